// Tells of node's own tests as they begin and end. Written for Node 20 to 24.
//
// `test:pass` and `test:fail` come in the order of the files, and those of a file only when all before it have ended.
// `test:enqueue`, `test:dequeue` and `test:complete` come at once: from them it is known what was running when a run is cut.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { send, fileOf, numbering, folded, textOf, summaryOf, failureOf, printedBy } = createRequire(import.meta.url)('./tell.cjs')

const files = new Map()
const totals = {}
// What Node says of activity after a test's end: versions before 22 do not say in which file.
const late = []

// What is known of one file.
function fileState(path) {
  const file = fileOf(path ?? '')
  if (!files.has(file)) {
    files.set(file, {
      file, unique: numbering(), early: numbering(), names: [], running: [], waiting: new Map(), printed: [], errors: [], tests: 0, bad: [],
    })
  }
  return files.get(file)
}

// The process of a file is a test, too: named like it, above all others.
const isFile = (data) => data.nesting === 0 && data.line === 1 && data.column === 1 && fileOf(data.name) === fileOf(data.file)

const placeOf = (data) => `${data.line}:${data.column}:${data.nesting}:${data.name}`

// Which tests are around one that runs: those of less nesting that began last and go on.
function begun(data) {
  const state = fileState(data.file)
  if (isFile(data)) return void send({ event: 'running', nodeid: state.file })
  if (state.running.length === 0) send({ event: 'over', nodeid: state.file })
  const around = state.running.findLast((one) => one.nesting === data.nesting - 1)
  const path = [...(around?.path ?? []), data.name]
  const nodeid = state.early([state.file, ...path].join('::'))
  // Until a test begins inside it, what began is taken for a test: versions before 22 do not tell a suite from one.
  if (around) send({ event: 'over', nodeid: around.nodeid })
  state.waiting.delete(placeOf(data))
  state.running.push({ nodeid, path, nesting: data.nesting, place: placeOf(data) })
  return send({ event: 'running', nodeid })
}

function completed(data) {
  const state = fileState(data.file)
  if (isFile(data)) return void closed(state, data)
  state.waiting.delete(placeOf(data))
  const at = state.running.findIndex((one) => one.place === placeOf(data))
  const [one] = at < 0 ? [] : state.running.splice(at, 1)
  if (!one) return undefined
  send({ event: 'over', nodeid: one.nodeid })
  const row = rowOf(one.nodeid, data, data.details?.passed ?? false)
  return row && send({ ...row, event: 'provisional' })
}

// A file's process is gone: what it began or meant to begin and gave no result of will have none.
function closed(state, data) {
  send({ event: 'over', nodeid: state.file })
  if (state.tests === 0) {
    // Node keeps the results of a file until all files before it have ended. That it went well or not is known now.
    send({ event: 'provisional', nodeid: state.file, outcome: data.details?.passed ? 'passed' : 'failed', phase: 'collect' })
  }
  for (const { path } of state.running) send({ event: 'started', nodeid: [state.file, ...path].join('::') })
  for (const names of state.waiting.values()) send({ event: 'started', nodeid: [state.file, ...names].join('::') })
  state.running = []
  state.waiting.clear()
  // Node tells what a file printed, not which of its tests did.
  const output = printedBy(state.file, state.printed, state.bad.length)
  if (output) for (const row of state.bad) send({ event: 'detailed', ...row, output })
  return undefined
}

function reasonOf(error) {
  const cause = error?.code === 'ERR_TEST_FAILURE' ? error.cause ?? error : error
  return typeof cause === 'string' ? cause : textOf(cause)
}

function outcomeOf(data, passed) {
  const { details = {}, skip, todo } = data
  if (skip !== undefined && skip !== false) return 'skipped'
  if (todo !== undefined && todo !== false) return passed ? 'skipped' : 'xfailed'
  if (passed) return 'passed'
  return details.type === 'suite' || details.error?.failureType === 'hookFailed' ? 'error' : 'failed'
}

// The row of a test; none for what is no test or was left out.
function rowOf(nodeid, data, passed) {
  const { details = {}, skip, todo } = data
  // A suite is the frame of its tests. It speaks for itself only where something of its own failed.
  if (details.type === 'suite' && (passed || details.error?.failureType === 'subtestsFailed')) return undefined
  if (typeof skip === 'string' && skip.includes('does not match pattern')) return undefined
  const row = { event: 'finished', nodeid, outcome: outcomeOf(data, passed) }
  if (typeof details.duration_ms === 'number') row.duration_s = details.duration_ms / 1000
  if (row.outcome === 'failed' || row.outcome === 'error') {
    row.message = reasonOf(details.error)
    row.failures = [failureOf(row.message)]
  } else {
    const note = [skip, todo].find((value) => typeof value === 'string' && value)
    if (note) row.message = note
  }
  if (data.line) row.location = { file: fileOf(data.file), line: data.line }
  return row
}

function ended(data, passed) {
  const state = fileState(data.file)
  if (isFile(data)) return passed ? silent(state, data) : broken(state, data)
  const names = [...state.names.slice(0, data.nesting), data.name]
  if (state.tests === 0) send({ event: 'over', nodeid: state.file })
  state.tests += 1
  const row = rowOf(state.unique([state.file, ...names].join('::')), data, passed)
  if (!row) return undefined
  if (row.outcome === 'failed' || row.outcome === 'error') state.bad.push({ nodeid: row.nodeid, outcome: row.outcome })
  return send(row)
}

// A file that ended well and told of no test. One that has none is a row that stands for the file: Node counts it as a test,
// but nothing in it was tested that anybody knows of. One that has some ended before any of them had a result.
function silent(state, data) {
  if (state.tests > 0) return
  let text = ''
  try {
    text = readFileSync(data.file, 'utf8')
  } catch {}
  if (/\bnode:test\b/.test(text)) {
    const message = 'the file ended with exit code 0 before any of its tests had a result'
    send({ event: 'collect_failed', nodeid: state.file, message, summary: message })
  } else {
    const duration = (data.details?.duration_ms ?? 0) / 1000
    send({ event: 'finished', nodeid: state.file, outcome: 'passed', phase: 'collect', duration_s: duration })
  }
}

// A file that failed by itself: its exit, and what it said on the way out, the reason in front.
function broken(state, data) {
  const { exitCode, signal } = data.details?.error ?? {}
  const how = signal ? `was ended by ${signal}` : `exited with ${exitCode ?? 'no code'}`
  const said = late.filter((message) => message.includes(` at ${state.file}:`))
  const text = [...said, state.errors.join('')].join('\n').replace(/\n*Node\.js v[\d.]+\s*$/, '').trim()
  const lines = text.split('\n')
  const first = lines.findIndex((line) => /^(Uncaught )?[\w$]*(Error|Exception)\b.*/.test(line))
  const reason = first > 0 ? [...lines.slice(first), ...lines.slice(0, first)].join('\n') : text
  const message = folded(reason ? `${reason}\n(${state.file} ${how})` : `${state.file} ${how}: ${reasonOf(data.details?.error)}`)
  send({ event: 'collect_failed', nodeid: state.file, message, summary: summaryOf(message) })
}

function waits(data) {
  const state = fileState(data.file)
  if (isFile(data)) return
  const around = state.running.findLast((one) => one.nesting === data.nesting - 1)
  state.waiting.set(placeOf(data), [...(around?.path ?? []), data.name])
}

function prints(data, list) {
  list.push(data.message)
}

function diagnosed(data) {
  const total = data.file ? undefined : /^(pass|fail|cancelled|tests) (\d+)$/.exec(data.message)
  if (total) totals[total[1]] = Number(total[2])
  else if (/generated asynchronous activity/.test(data.message)) late.push(data.message)
}

const HANDLERS = {
  'test:enqueue': waits,
  'test:dequeue': begun,
  'test:complete': completed,
  'test:start': (data) => {
    const { names } = fileState(data.file)
    names.length = data.nesting
    names.push(data.name)
  },
  'test:pass': (data) => ended(data, true),
  'test:fail': (data) => ended(data, false),
  'test:diagnostic': diagnosed,
  'test:stdout': (data) => prints(data, fileState(data.file).printed),
  'test:stderr': (data) => {
    const state = fileState(data.file)
    prints(data, state.printed)
    prints(data, state.errors)
  },
}

export default async function * (source) {
  send({ event: 'environment', values: { node: process.version } })
  for await (const { type, data } of source) {
    HANDLERS[type]?.(data)
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message
  }
  const { pass, fail, cancelled = 0, tests } = totals
  send({
    event: 'ended',
    ...(tests === 0 ? { none: 'Node found no test' } : {}),
    ...(fail === undefined ? {} : { failed: fail + cancelled }),
  })
  yield ''
}
