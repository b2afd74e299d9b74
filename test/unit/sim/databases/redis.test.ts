import { describe, expect, test } from 'bun:test'
import { importSim } from '../../../../src/sim/import/import-sim.ts'
import { simBlock, simFile } from '../../../support/sim/files.ts'

const url = 'rediss://ada:open%20sesame@cache.example.com:6380/2'

function imported(values: Record<string, unknown>, code = '') {
  const blocks = [
    simBlock('start', 'start_trigger', {}, { name: 'Start' }),
    simBlock('b', 'redis', { url, ...values }, { name: 'Cache' }),
    simBlock('after', 'function', { code }, { name: 'After' }),
  ]
  const result = importSim(simFile(blocks, ['start > b', 'b > after']))
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  expect(JSON.stringify(result)).not.toContain('sesame')
  return { ...result, block: result.document.blocks['b']!, code: result.document.blocks['after']!.params!['code'] }
}

describe('a Redis block of Sim', () => {
  test('becomes a command, and a credential for its server', () => {
    const { block, credentials, notes } = imported({ operation: 'set', key: 'n:<start.id>', value: 'x', ex: '60' })
    expect(block).toMatchObject({
      type: 'redis',
      params: {
        ...{ credential: 'redis-cache-example-com-6380-2', command: 'SET' },
        args: ['n:<start.input.id>', 'x', 'EX', '60'],
      },
    })
    expect(credentials).toMatchObject([{ name: 'redis-cache-example-com-6380-2', kind: 'redis' }])
    expect(notes.join('\n')).toContain('(server cache.example.com:6380, database 2, user ada, with TLS)')
  })

  test.each([
    ['get', { key: 'k' }, 'GET', ['k'], 'value'],
    ['delete', { key: 'k' }, 'DEL', ['k'], 'deletedCount'],
    ['keys', {}, 'KEYS', ['*'], 'keys'],
    ['hset', { key: 'k', field: 'f', value: 'v' }, 'HSET', ['k', 'f', 'v'], 'result'],
    ['hgetall', { key: 'k' }, 'HGETALL', ['k'], 'fields'],
    ['incrby', { key: 'k', increment: '-2' }, 'INCRBY', ['k', '-2'], 'value'],
    ['exists', { key: 'k' }, 'EXISTS', ['k'], 'exists'],
    ['lrange', { key: 'k', stop: '5' }, 'LRANGE', ['k', '0', '5'], 'values'],
    ['ttl', { key: 'k' }, 'TTL', ['k'], 'ttl'],
    ['command', { command: '["ZADD", "z", 1, "<start.id>"]' }, 'ZADD', ['z', 1, '<start.input.id>'], 'result'],
  ])('sends %s, and its reply is the result', (operation, values, command, args, output) => {
    const { block, code, notes } = imported({ operation, ...values }, `return <cache.${output}>`)
    expect(block.params).toMatchObject({ command, args })
    expect(code).toBe('return <cache.result>')
    expect(notes.join('\n')).not.toContain('not translated')
    expect(notes.join('\n')).not.toContain('no effect')
  })

  test('names the variable that held its address', () => {
    const { credentials, notes } = imported({ url: '{{REDIS_URL}}', key: 'k' })
    expect(credentials).toMatchObject([{ name: 'redis-url' }])
    expect(notes.join('\n')).toContain('({{REDIS_URL}} in Sim)')
  })

  test('stays a placeholder when a value decides the command', () => {
    for (const command of ['["<start.command>", "k"]', '<start.list>', '[]', 'GET k']) {
      const { placeholders } = imported({ operation: 'command', command })
      expect(placeholders[0]?.needs).toContain('a fixed command')
    }
    expect(imported({ operation: 'flush' }).placeholders[0]?.needs).toContain('"flush"')
  })

  test('does not translate outputs that only repeat the input', () => {
    const { notes } = imported({ operation: 'get', key: 'k' }, 'return <cache.key>')
    expect(notes.join('\n')).toContain('The reference <cache.key> is not translated')
  })
})
