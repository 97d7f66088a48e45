// What the reporters of all JavaScript frameworks share: the channel, names of files, and the text of errors.
const { writeSync } = require('node:fs')
const { isAbsolute, relative, sep } = require('node:path')
const { fileURLToPath } = require('node:url')
const { inspect, stripVTControlCharacters } = require('node:util')

// The folder that names of files are relative to: the framework itself may run in one above it (launch.mjs).
const base = process.env.QAAS_BASE || process.cwd()

// Half a surrogate pair (a text cut through an emoji) is no Unicode: readers of JSON refuse the whole line.
const LONE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g
const wellFormed = (key, value) => (typeof value === 'string' ? value.replace(LONE, '\uFFFD') : value)

// One event, one line, on the channel (standard input).
function send(event) {
  let data = Buffer.from(JSON.stringify(event, wellFormed) + '\n')
  while (data.length > 0) {
    try {
      data = data.subarray(writeSync(0, data))
    } catch (error) {
      if (error.code !== 'EAGAIN') return
    }
  }
}

function fileOf(path) {
  if (!path) return ''
  const plain = path.startsWith('file:') ? fileURLToPath(path) : path
  if (!isAbsolute(plain)) return plain.split(sep).join('/')
  const inside = relative(base, plain).split(sep).join('/')
  return inside.startsWith('../') ? plain : inside
}

// Namesakes are told apart by a number, in the order of their file.
function numbering() {
  const seen = new Map()
  return (id) => {
    const count = (seen.get(id) ?? 0) + 1
    seen.set(id, count)
    return count === 1 ? id : `${id}[${count}]`
  }
}

const FRAME = /^\s*at /
const FOREIGN = /\bnode:|node_modules|internal\/process\/|[( ]<anonymous>\)?$/

// A stack with the frames of packages and of Node itself folded into their number.
function folded(stack) {
  const lines = stack.split('\n')
  const frames = lines.filter((line) => FRAME.test(line))
  const foreign = frames.filter((line) => FOREIGN.test(line)).length
  // A stack without a line of the project's own is kept: there is nothing else to look at.
  if (foreign < 2 || foreign === frames.length) return stack
  const kept = lines.filter((line) => !FRAME.test(line) || !FOREIGN.test(line))
  return [...kept, `    … ${foreign} frames of packages and of Node itself`].join('\n')
}

const PLAIN = new Set([
  'name', 'message', 'stack', 'stackStr', 'stacks', 'nameStr', 'cause', 'errors', 'diff', 'codeFrame', 'expected', 'actual', 'showDiff',
  'ok', 'operator', 'generatedMessage', 'matcherResult', 'context', 'toString', 'toJSON', 'constructor', 'frame', 'type', '__vitest_error_id__',
])

const isError = (error) => typeof error === 'object' && error !== null && (error.stack || error.message) && true

// `Error: what happened`, or the thing itself where something else was thrown.
function headOf(error) {
  if (!isError(error)) {
    const things = typeof error === 'object' && error !== null ? thingsOf(error) : error
    return `thrown: ${typeof things === 'string' ? things : inspect(things)}`
  }
  const name = error.name || error.nameStr || 'Error'
  const message = String(error.message ?? '')
  const stack = String(error.stack ?? '')
  // The stack's own first line has a code, too (`Error [ERR_X]: …`).
  const first = stack.split('\n')[0]
  if (message && first.includes(message.split('\n')[0]) && !FRAME.test(first)) {
    const end = stack.split('\n').findIndex((line) => FRAME.test(line))
    return (end < 0 ? stack : stack.split('\n').slice(0, end).join('\n')).trimEnd()
  }
  return message ? `${name}: ${message}` : name
}

function thingsOf(error) {
  const own = Object.entries(error).filter(([key]) => !PLAIN.has(key) && !key.startsWith('VITEST_'))
  return Object.fromEntries(own)
}

function framesOf(error) {
  const lines = String(error?.stack ?? '').split('\n')
  return lines.filter((line) => FRAME.test(line)).join('\n')
}

// The reasons first (the error, what caused it, what it holds), then the difference, then the stack.
function textOf(error) {
  const heads = []
  let stack = ''
  const walk = (one, intro, depth) => {
    if (depth > 5) return
    heads.push(intro + headOf(one))
    stack ||= framesOf(one)
    const things = isError(one) ? thingsOf(one) : {}
    // A code that stands in the error's own first line need not be said again.
    if (typeof things.code === 'string' && heads.at(-1).includes(`[${things.code}]`)) delete things.code
    if (Object.keys(things).length > 0) heads.push(inspect(things, { breakLength: 120 }))
    for (const inner of Array.isArray(one?.errors) ? one.errors.slice(0, 5) : []) walk(inner, '- ', depth + 1)
    if (one?.cause !== undefined && one.cause !== null) walk(one.cause, 'caused by: ', depth + 1)
  }
  walk(error, '', 0)
  // Node's own assertions have a `diff` too: the name of a way to show one.
  const diff = String(error?.diff ?? '').includes('\n') ? error.diff : ''
  const parts = [heads.join('\n'), diff, stack && folded(stack)]
  return stripVTControlCharacters(parts.filter(Boolean).join('\n'))
}

// The first line; with those that belong to it where it only opens a bracket (`thrown: Object {`).
function summaryOf(text) {
  const lines = text.split('\n').filter((line) => line.trim() && !FRAME.test(line))
  const closes = lines.findIndex((line) => /^[}\])]/.test(line))
  const open = /[{[(]$/.test(lines[0] ?? '') && closes > 0 && closes < 6
  return (open ? lines.slice(0, closes + 1).map((line) => line.trim()).join(' ') : lines[0]) ?? ''
}

// The first place in the project's own code that a stack names.
function placeOf(text) {
  for (const line of text.split('\n')) {
    if (!FRAME.test(line) || FOREIGN.test(line)) continue
    const found = /\(?((?:file:\/\/)?\/[^()]*?):(\d+):\d+\)?$/.exec(line.trim().replace(/^at (async )?/, ''))
    if (found) return { file: fileOf(found[1].replace(/^.*?(?=file:\/\/|\/)/, '')), line: Number(found[2]) }
  }
  return undefined
}

function failureOf(text) {
  const failure = { phase: 'call', text, summary: summaryOf(text) }
  const location = placeOf(text)
  return location ? { ...failure, location } : failure
}

// The last of what was printed, as much of it as a row can carry.
const MOST_PRINTED = 8000
function printed(chunks, most = MOST_PRINTED) {
  const text = stripVTControlCharacters(chunks.join(''))
  return text.length > most ? `…${text.slice(-most)}` : text
}

// What a file printed, for rows of its tests where a framework does not tell which of them did. Several rows have less each.
function printedBy(file, chunks, rows) {
  const text = printed(chunks, rows > 1 ? 1000 : MOST_PRINTED)
  return text && `printed by the tests of ${file}:\n${text}`
}

module.exports = { base, send, fileOf, numbering, folded, textOf, summaryOf, failureOf, printed, printedBy, stripVTControlCharacters }
