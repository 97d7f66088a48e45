import { test } from 'vitest'

test('before', () => {})
test('hangs', () => new Promise(() => {}), 1e9)
