// Starts a package's own command line with this node: `node launch.mjs PACKAGE ARGUMENTS…`. The package is the one that
// the working folder would import, wherever it is installed.
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const name = process.argv[2]
const require = createRequire(join(process.cwd(), 'package.json'))
const facts = require.resolve(`${name}/package.json`)
const { bin } = JSON.parse(readFileSync(facts, 'utf8'))
const program = join(dirname(facts), typeof bin === 'string' ? bin : bin[name])
process.argv.splice(1, 2, program)

// jest takes a folder for a pattern of names, which may mean more or less than the folder, or for nothing at all. Its
// files are named instead; which of them are tests it decides as ever.
function filesOf (path) {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path]
  const found = []
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue
    if (entry.isDirectory()) found.push(...filesOf(join(path, entry.name)))
    else if (entry.isFile()) found.push(join(path, entry.name))
  }
  return found
}
const byPath = process.argv.indexOf('--runTestsByPath')
if (byPath !== -1) {
  const paths = process.argv.splice(byPath + 1)
  if (paths.some((path) => resolve(path) === process.cwd())) {
    process.argv.splice(byPath, 1)
  } else {
    const files = paths.flatMap(filesOf)
    // No path at all would mean every test.
    process.argv.push(...(files.length > 0 ? files : paths))
  }
}
await import(pathToFileURL(program).href)
