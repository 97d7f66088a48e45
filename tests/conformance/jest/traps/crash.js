test('before', () => {})
test('ends its process', async () => {
  await new Promise((resolve) => setTimeout(resolve, 500))
  process.kill(process.pid, 'SIGKILL')
})
