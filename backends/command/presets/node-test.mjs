// Tells of node's own tests as they end, one JSON object a line, on the channel (standard input).
import { writeSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'

function send(event) {
  let data = Buffer.from(JSON.stringify(event) + '\n')
  while (data.length > 0) {
    try {
      data = data.subarray(writeSync(0, data))
    } catch (error) {
      if (error.code !== 'EAGAIN') return
    }
  }
}

const fileOf = (path) => {
  const plain = path.startsWith('file:') ? fileURLToPath(path) : path
  const inside = relative(process.cwd(), plain).split(sep).join('/')
  return inside.startsWith('../') ? plain : inside
}

const seen = new Map()
function unique(id) {
  const count = (seen.get(id) ?? 0) + 1
  seen.set(id, count)
  return count === 1 ? id : `${id}[${count}]`
}

const textOf = (error) => {
  const cause = error?.cause ?? error
  return cause?.stack ?? (typeof cause === 'string' ? cause : inspect(cause))
}

function told(data, passed, names) {
  const { details = {}, skip, todo } = data
  const error = details.error
  const why = error?.failureType
  // A suite is the frame of its tests. It speaks for itself only where something of its own failed.
  if (details.type === 'suite' && (passed || why === 'subtestsFailed')) return
  if (typeof skip === 'string' && skip.includes('does not match pattern')) return
  const file = fileOf(data.file ?? '')
  if (data.nesting === 0 && (data.name === data.file || fileOf(data.name) === file) && !passed) {
    send({ event: 'collect_failed', nodeid: file, message: textOf(error) })
    return
  }
  if (data.nesting === 0 && data.name === data.file) return
  const nodeid = unique([file, ...names].join('::'))
  let outcome = passed ? 'passed' : 'failed'
  if (skip !== undefined && skip !== false) outcome = 'skipped'
  else if (todo !== undefined && todo !== false) outcome = passed ? 'skipped' : 'xfailed'
  else if (!passed && (details.type === 'suite' || why === 'hookFailed')) outcome = 'error'
  const event = { event: 'finished', nodeid, outcome }
  if (typeof details.duration_ms === 'number') event.duration_s = details.duration_ms / 1000
  if (outcome === 'failed' || outcome === 'error') {
    const text = textOf(error)
    event.failures = [{ phase: 'call', text, summary: text.split('\n')[0] }]
    event.message = text
  } else {
    const note = [skip, todo].find((value) => typeof value === 'string' && value)
    if (note) event.message = note
  }
  if (data.line) event.location = { file, line: data.line }
  send(event)
}

export default async function * (source) {
  const names = []
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      names.length = data.nesting
      names.push(data.name)
    } else if (type === 'test:pass' || type === 'test:fail') {
      const path = [...names.slice(0, data.nesting), data.name]
      told(data, type === 'test:pass', path)
    }
  }
  send({ event: 'ended' })
  yield ''
}
