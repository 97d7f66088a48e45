import { test } from 'node:test'

test('before', () => {})
test('hangs', () => new Promise(() => setInterval(() => {}, 1000)))
