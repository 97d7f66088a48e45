import { test } from 'node:test'

test('before', () => {})
test('ends its process', async () => {
  // Node's own runner hears of `before` only after a while.
  await new Promise((resolve) => setTimeout(resolve, 500))
  process.kill(process.pid, 'SIGKILL')
})
