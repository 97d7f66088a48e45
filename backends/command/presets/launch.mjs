// Starts a JavaScript framework the way the project itself does, with a reporter of ours:
// `node launch.mjs FRAMEWORK [--list] [--keyword=…] WORDS… [--selected ID…]`.
// The framework is the one that the project's folder would import, wherever it is installed; options, variables and flags
// come from the project's own script (script.mjs).
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FRAMEWORKS } from './frameworks.mjs'
import { readJson, scriptOf } from './script.mjs'

const { send } = createRequire(import.meta.url)('./tell.cjs')

function upward(folder) {
  const folders = [folder]
  while (!existsSync(join(folder, '.git')) && dirname(folder) !== folder) folders.push((folder = dirname(folder)))
  return folders
}

// Whether a folder is one that the framework is run in: its package depends on it, configures it, or has a script with it.
function speaks(name, folder) {
  const facts = readJson(join(folder, 'package.json')) ?? {}
  const lists = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
  if (lists.some((list) => facts[list]?.[name] !== undefined) || facts[name] !== undefined) return true
  if (readdirSync(folder).some((file) => file.startsWith(`${name}.config.`) || file.startsWith(`${name}.workspace.`))) return true
  return scriptOf(name, folder) !== undefined
}

function parsed(id, base) {
  const [file, ...names] = id.split('::')
  const project = names.length > 0 ? /^\|(.+)\|$/.exec(names[0])?.[1] : undefined
  if (project !== undefined) names.shift()
  return { file: resolve(base, file), names: names.length > 0 ? names : undefined, project }
}

function asked(argv, base) {
  const [name, ...rest] = argv
  const at = rest.lastIndexOf('--selected')
  const words = at < 0 ? rest : rest.slice(0, at)
  const list = words[0] === '--list'
  const keyword = words.find((word) => word.startsWith('--keyword='))?.slice('--keyword='.length)
  return {
    name,
    list,
    keyword,
    words: words.filter((word) => word !== '--list' && !word.startsWith('--keyword=')),
    selected: (at < 0 ? [] : rest.slice(at + 1)).map((id) => parsed(id, base)),
  }
}

// Where a package of the project has its program.
function programOf(name, folder) {
  const require = createRequire(join(folder, 'package.json'))
  const facts = require.resolve(`${name}/package.json`)
  const { bin, version } = readJson(facts)
  return { path: join(dirname(facts), typeof bin === 'string' ? bin : bin[name]), version }
}

// As npm does for its scripts: the packages' programs and this node are found first.
function pathFor(home) {
  const bins = upward(home).map((folder) => join(folder, 'node_modules/.bin')).filter(existsSync)
  return [...bins, dirname(process.execPath), process.env.PATH].join(delimiter)
}

// Waits for the end of a program, and ends as it did.
function become(command, env) {
  const child = spawn(command[0], command.slice(1), { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  child.on('error', (error) => {
    console.error(String(error))
    process.exit(127)
  })
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
    setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 1000)
  })
}

// Nothing that could be run: what the reporter cannot say, since it never began.
function nothing(why) {
  send({ event: 'ended', none: why })
}

function start() {
  const base = process.cwd()
  const request = asked(process.argv.slice(2), base)
  const framework = FRAMEWORKS[request.name]
  const folders = upward(base)
  const home = folders.find((folder) => speaks(request.name, folder)) ?? base
  if (home !== base && request.selected.length === 0) request.selected = [{ file: base }]
  const script = scriptOf(request.name, home) ?? { env: {}, flags: [], words: [] }
  const program = framework.ownProgram ? undefined : programOf(request.name, home)
  const made = framework.command({ ...request, base, home, script, version: program?.version })
  if (made.none) return nothing(made.none)
  Object.assign(process.env, script.env, { PATH: pathFor(home), QAAS_BASE: base }, made.env)
  if (script.name) send({ event: 'environment', values: { 'package.json script': script.name } })
  process.chdir(home)
  const wrapper = request.selected.length > 0 && /\/?(c8|nyc)$/.test(script.wrapper?.[0] ?? '') ? undefined : script.wrapper
  const around = wrapper ? [process.execPath, programOf(wrapper[0], home).path, ...wrapper.slice(1)] : []
  if (framework.ownProgram) return become([...around, process.execPath, ...made.words], process.env)
  const inner = [fileURLToPath(new URL('inner.mjs', import.meta.url)), program.path, ...made.words]
  const outside = around.length > 0 || script.flags.length > 0 || script.env.NODE_OPTIONS !== undefined
  if (outside) return become([...around, process.execPath, ...script.flags, ...inner], process.env)
  process.argv.splice(1, process.argv.length, ...inner)
  return import(pathToFileURL(inner[0]).href)
}

await start()
