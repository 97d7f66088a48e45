// Starts a package's own command line with this node: `node launch.mjs PACKAGE ARGUMENTS…`. The package is the one that
// the working folder would import, wherever it is installed.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const name = process.argv[2]
const require = createRequire(join(process.cwd(), 'package.json'))
const facts = require.resolve(`${name}/package.json`)
const { bin } = JSON.parse(readFileSync(facts, 'utf8'))
const program = join(dirname(facts), typeof bin === 'string' ? bin : bin[name])
process.argv.splice(1, 2, program)
await import(pathToFileURL(program).href)
