// Tells of vitest's tests as they begin and end. Written for vitest 3 to 5; older ones give their results at the end.
import { createRequire } from 'node:module'

const { send, fileOf, numbering, textOf, summaryOf, failureOf, printed } = createRequire(import.meta.url)('./tell.cjs')

const OUTCOMES = { passed: 'passed', failed: 'failed', skipped: 'skipped' }

export default class {
  ids = new Map()
  told = new Map()
  logs = new Map()
  errors = new Map()
  counts = { passed: 0, failed: 0 }

  onInit(vitest) {
    this.vitest = vitest
    this.list = process.env.QAAS_LIST === '1'
    this.pattern = this.list ? undefined : process.env.QAAS_KEYWORD
    // Before 5 the parts of a name are joined by a blank where a pattern is held against it.
    this.joint = Number.parseInt(vitest.version, 10) >= 5 ? ' > ' : ' '
    send({ event: 'environment', values: { vitest: vitest.version ?? 'before 1', node: process.version } })
  }

  names(test) {
    const names = [test.name]
    for (let parent = test.parent; parent?.type === 'suite'; parent = parent.parent) names.unshift(parent.name)
    return names
  }

  file(module) {
    const project = module.project?.name
    return project ? `${fileOf(module.moduleId)}::|${project}|` : fileOf(module.moduleId)
  }

  // A file is named as what runs until a test in it is known to: a test that never gives its thread back tells nothing.
  onTestModuleQueued(module) {
    send({ event: 'running', nodeid: this.file(module) })
  }

  // A file's ids are made when it is collected, in the file's order: tests that run at once end in any.
  onTestModuleCollected(module) {
    const unique = numbering()
    for (const test of module.children.allTests()) {
      const id = unique([this.file(module), ...this.names(test)].join('::'))
      this.ids.set(test.id, id)
      if (this.list) send({ event: 'found', nodeid: id, location: this.place(test) })
    }
  }

  id(test) {
    return this.ids.get(test.id) ?? [this.file(test.module), ...this.names(test)].join('::')
  }

  place(test) {
    return test.location ? { file: fileOf(test.module.moduleId), line: test.location.line } : undefined
  }

  onTestCaseReady(test) {
    if (this.list) return
    send({ event: 'over', nodeid: this.file(test.module) })
    send({ event: this.vitest.config?.bail > 0 ? 'running' : 'started', nodeid: this.id(test) })
  }

  onTestCaseResult(test) {
    if (this.list) return
    const result = test.result() ?? { state: 'pending' }
    const nodeid = this.id(test)
    // What a pattern of names leaves out vitest reports as skipped, and where that is all of a file, as begun before.
    if (result.state === 'skipped' && this.pattern && !new RegExp(this.pattern).test(this.names(test).join(this.joint))) {
      return send({ event: 'over', nodeid })
    }
    // After enough failures (`bail`) vitest begins the others and leaves them without a result.
    if (result.state === 'pending') return send({ event: 'over', nodeid })
    const outcome = result.state === 'passed' && test.options?.fails ? 'xfailed' : OUTCOMES[result.state] ?? 'error'
    if (this.told.get(test.id) === outcome) return
    this.told.set(test.id, outcome)
    const { duration, retryCount = 0 } = test.diagnostic() ?? {}
    this.finished(nodeid, outcome, {
      duration, retryCount, errors: result.errors, note: result.note, location: this.place(test), output: this.logs.get(test.id),
    })
  }

  finished(nodeid, outcome, { duration, retryCount = 0, errors = [], note, location, output }) {
    const texts = errors.map(textOf)
    // The errors of earlier tries stand before those of the last one.
    const earlier = texts.splice(0, outcome === 'failed' ? Math.min(retryCount, texts.length - 1) : retryCount)
    for (let attempt = 1; attempt <= retryCount; attempt++) {
      send({ event: 'reran', nodeid, attempt: { attempt, outcome: 'failed', message: earlier[attempt - 1] } })
    }
    const event = { event: 'finished', nodeid, outcome, location }
    if (duration !== undefined) event.duration_s = duration / 1000
    if (outcome === 'failed') {
      event.failures = texts.map(failureOf)
      event.message = texts.join('\n\n')
    } else if (note) event.message = note
    if (output && outcome !== 'passed') event.output = printed(output)
    this.counts[outcome] = (this.counts[outcome] ?? 0) + 1
    send(event)
  }

  // What a test printed may be told after its end; what is printed outside of a test belongs to its file.
  onUserConsoleLog(log) {
    ;(log.type === 'stderr' ? process.stderr : process.stdout).write(log.content)
    if (!log.taskId) return
    const lines = this.logs.get(log.taskId) ?? []
    lines.push(log.content)
    this.logs.set(log.taskId, lines)
    const outcome = this.told.get(log.taskId)
    if (outcome && outcome !== 'passed') {
      send({ event: 'detailed', nodeid: this.ids.get(log.taskId), outcome, output: printed(lines) })
    }
  }

  // What failed beside the tests: a file that could not be loaded or has no test, a hook, an error that nobody waited for.
  wrong(nodeid, errors) {
    if (errors.length === 0 || this.errors.has(nodeid)) return
    const message = errors.map(textOf).join('\n\n')
    this.errors.set(nodeid, message)
    send({ event: 'collect_failed', nodeid, message, summary: summaryOf(message) })
  }

  onTestSuiteResult(suite) {
    this.wrong([this.file(suite.module), ...this.names(suite)].join('::'), suite.errors?.() ?? [])
  }

  onTestModuleEnd(module) {
    send({ event: 'over', nodeid: this.file(module) })
    this.wrong(this.file(module), module.errors?.() ?? [])
  }

  onTestRunEnd(modules, unhandled) {
    for (const module of modules) {
      // A file that could not be loaded never began, and so never ended.
      this.onTestModuleEnd(module)
      // The last word counts: of tests that nothing was said of, or something else.
      for (const test of module.children?.allTests?.() ?? []) this.onTestCaseResult(test)
    }
    this.end(unhandled, modules.length === 0)
  }

  // Before vitest 3 this is the one place where results come.
  onFinished(files = [], unhandled = []) {
    if (this.over) return
    for (const file of files) {
      const unique = numbering()
      this.wrong(fileOf(file.filepath), file.result?.errors ?? [])
      for (const task of file.tasks) this.walk(file, task, [task.name], unique)
    }
    this.end(unhandled, files.length === 0)
  }

  walk(file, task, names, unique) {
    if (task.type === 'suite') {
      for (const inner of task.tasks ?? []) this.walk(file, inner, [...names, inner.name], unique)
      return
    }
    const nodeid = unique([fileOf(file.filepath), ...names].join('::'))
    if (this.list) return send({ event: 'found', nodeid })
    const state = { pass: 'passed', fail: 'failed' }[task.result?.state] ?? 'skipped'
    if (state === 'skipped' && this.pattern && !new RegExp(this.pattern).test(names.join(this.joint))) return
    this.finished(nodeid, state === 'passed' && task.fails ? 'xfailed' : state, {
      duration: task.result?.duration, errors: task.result?.errors, retryCount: task.result?.retryCount,
    })
  }

  end(unhandled, nothing) {
    if (this.over) return
    this.over = true
    const files = new Map()
    for (const error of unhandled ?? []) {
      const file = fileOf(error.VITEST_TEST_PATH ?? '')
      files.set(file, [...(files.get(file) ?? []), error])
    }
    for (const [file, errors] of files) this.outside(file, errors.map(textOf).join('\n\n'))
    send({ event: 'ended', ...(nothing ? { none: 'vitest found no test file' } : {}), passed: this.counts.passed, failed: this.counts.failed })
  }

  outside(file, text) {
    const message = `an error outside of any test: ${text}`
    if (!file || this.errors.has(file)) send({ event: 'warning', message })
    else send({ event: 'collect_failed', nodeid: file, message, summary: summaryOf(message) })
  }
}
