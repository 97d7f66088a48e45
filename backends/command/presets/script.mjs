// What the scripts of a package.json say of how a framework is run: options, variables, flags of Node, files.
// A script is read as `sh` would read it, as far as words, quotes, variables and `&&` go; none is run.
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export const readJson = (file) => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s
const OPERATOR = /^(&&|\|\||[;|&\n()<>])/

// The value of `$NAME`, `${NAME}` or `${NAME:-other}` at the start of a text, and how long that is.
function variable(text) {
  const found = /^\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))/.exec(text)
  if (!found) return undefined
  return { value: process.env[found[1] ?? found[3]] || found[2] || '', length: found[0].length }
}

// The commands of a script: words with whether `sh` would take them for a pattern of files. What cannot be read without
// running something (`$(…)`) leaves its command out.
export function commandsOf(script) {
  const commands = []
  let words = []
  let word
  let quote = ''
  let readable = true
  const add = (text, pattern = false) => {
    word ??= { text: '', pattern: false }
    word.text += text
    word.pattern ||= pattern
  }
  const endWord = () => {
    if (word) words.push(word)
    word = undefined
  }
  const endCommand = () => {
    endWord()
    if (words.length > 0 && readable) commands.push(words)
    words = []
    readable = true
  }
  for (let at = 0; at < script.length; at++) {
    const c = script[at]
    const rest = script.slice(at)
    if (quote === "'") {
      if (c === "'") quote = ''
      else add(c)
    } else if (c === '`' || rest.startsWith('$(')) {
      readable = false
      add(c)
    } else if (c === '$' && variable(rest)) {
      add(variable(rest).value)
      at += variable(rest).length - 1
    } else if (c === '\\' && at + 1 < script.length) {
      add(script[++at])
    } else if (quote === '"') {
      if (c === '"') quote = ''
      else add(c)
    } else if (c === "'" || c === '"') {
      quote = c
      add('')
    } else if (OPERATOR.test(rest)) {
      endCommand()
      at += OPERATOR.exec(rest)[0].length - 1
    } else if (/\s/.test(c)) {
      endWord()
    } else {
      add(c, '*?['.includes(c))
    }
  }
  endCommand()
  return commands
}

// Starters that hand the rest of the line on as it is, and how many words of their own they may have.
const HANDS_ON = new Set(['npx', 'bunx', 'env', 'cross-env', 'cross-env-shell', 'exec', 'command', 'time'])
const MANAGERS = new Set(['npm', 'pnpm', 'yarn', 'bun'])
// Programs that stand around a command: they are started with it.
const WRAPPERS = new Set(['c8', 'nyc', 'dotenv', 'dotenvx', 'env-cmd'])
const NODE_VALUES = new Set([
  '--import', '--require', '-r', '--loader', '--experimental-loader', '--conditions', '-C', '--env-file', '--env-file-if-exists',
  '--test-reporter', '--test-reporter-destination', '--test-concurrency', '--test-timeout', '--test-name-pattern',
  '--test-skip-pattern', '--test-shard', '--test-coverage-include', '--test-coverage-exclude', '--test-isolation',
  '--experimental-test-isolation', '--test-global-setup', '--input-type', '--stack-trace-limit', '--experimental-default-type',
])

const isFramework = (framework, word) => {
  const name = basename(word).replace(/\.(c|m)?js$/, '')
  return name === framework && (name === word || word.includes('/'))
}

// A command without its variables and without those that only hand it on.
function bare(words, env) {
  let rest = words
  for (;;) {
    const first = rest[0]?.text ?? ''
    const found = ASSIGNMENT.exec(first)
    if (found) env[found[1]] = found[2]
    else if (!HANDS_ON.has(first) && !(rest[1]?.text === 'exec' && MANAGERS.has(first))) return rest
    rest = rest.slice(MANAGERS.has(first) ? 2 : 1)
    while (rest[0]?.text.startsWith('-') && first !== '') rest = rest.slice(1)
  }
}

// The script that `npm run NAME`, `npm test`, `yarn NAME` hand over to.
function calledScript(words, scripts) {
  const [manager, ...rest] = words.map((word) => word.text)
  if (!MANAGERS.has(manager)) return undefined
  const [verb, next] = rest.filter((word) => !word.startsWith('-'))
  if (verb === 'run' || verb === 'run-script') return next
  if (verb === 't') return 'test'
  return scripts[verb] === undefined ? undefined : verb
}

// `node FLAGS… PROGRAM …`: its flags, and what follows them.
function nodeCommand(words) {
  const flags = []
  let rest = words.slice(1)
  while (rest[0]?.text.startsWith('-')) {
    const count = NODE_VALUES.has(rest[0].text) ? 2 : 1
    flags.push(...rest.slice(0, count))
    rest = rest.slice(count)
  }
  return { flags: flags.map((word) => word.text), rest }
}

// What one command says of the framework; nothing if it is no command of the framework's.
function readCommand(framework, words, scripts, visit) {
  const env = {}
  let rest = bare(words, env)
  let wrapper
  if (WRAPPERS.has(basename(rest[0]?.text ?? ''))) {
    const end = rest.findIndex((word, at) => at > 0 && (word.text === 'node' || MANAGERS.has(word.text) || isFramework(framework, word.text)))
    if (end < 0) return undefined
    wrapper = rest.slice(0, end).map((word) => word.text)
    rest = bare(rest.slice(end), env)
  }
  const called = calledScript(rest, scripts)
  if (called !== undefined) {
    const inner = visit(called)
    return inner && { ...inner, env: { ...env, ...inner.env }, wrapper: inner.wrapper ?? wrapper }
  }
  const program = basename(rest[0]?.text ?? '')
  if (program === 'yarn' || program === 'pnpm') rest = rest.slice(1)
  if (framework !== 'node-test' && isFramework(framework, rest[0]?.text ?? '')) return { env, wrapper, flags: [], words: rest.slice(1) }
  if (program !== 'node' && program !== 'tsx') return undefined
  const { flags, rest: after } = nodeCommand(rest)
  if (program === 'tsx') flags.unshift('--import', 'tsx')
  if (framework === 'node-test') return flags.includes('--test') ? { env, wrapper, flags, words: after } : undefined
  const isProgram = isFramework(framework, after[0]?.text ?? '')
  return isProgram ? { env, wrapper, flags, words: after.slice(1) } : undefined
}

// How a package's scripts run the framework: `test` first, then what is named like it, then any.
export function scriptOf(framework, folder) {
  const scripts = readJson(join(folder, 'package.json'))?.scripts ?? {}
  const names = Object.keys(scripts).filter((name) => typeof scripts[name] === 'string')
  const rank = (name) => (name === 'test' ? 0 : /watch|debug|update|\bui\b|coverage|bench|dev/.test(name) ? 3 : name.startsWith('test') ? 1 : 2)
  for (const name of [...names].sort((one, other) => rank(one) - rank(other))) {
    const seen = new Set()
    const visit = (script) => {
      if (seen.has(script) || typeof scripts[script] !== 'string') return undefined
      seen.add(script)
      for (const words of commandsOf(scripts[script])) {
        const found = readCommand(framework, words, scripts, visit)
        if (found) return found
      }
      return undefined
    }
    const found = visit(name)
    if (found) return { ...found, name }
  }
  return undefined
}
