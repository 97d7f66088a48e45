it('before', () => {})
it('ends its process', () => { process.exit(0) })
