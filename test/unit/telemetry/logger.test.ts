import { describe, expect, test } from 'bun:test'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import { type AccessLine, Logger, type LoggerOptions } from '../../../src/telemetry/logger.ts'

function collect(options: Partial<LoggerOptions> = {}) {
  const texts: string[] = []
  const write = (line: string) => texts.push(line)
  const logger = new Logger({ level: 'info', access: 'errors', now: () => 0, write, ...options })
  return { logger, texts, lines: () => texts.map((text) => JSON.parse(text)) }
}

const access = (status: number): AccessLine => ({
  requestId: 'r',
  method: 'GET',
  path: '/',
  status,
  durationMs: 1,
  bytes: 2,
  keyId: null,
  userId: null,
  workflowId: null,
  executionId: null,
  code: null,
})

describe('the log', () => {
  test('is one JSON object per line', () => {
    const { logger, texts } = collect()
    logger.info('started\nwell', { port: 3000, nothing: undefined })
    expect(texts).toEqual([
      '{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"started\\nwell","port":3000}\n',
    ])
  })

  test('adds the trace to lines about a run, once traces are exported', () => {
    const { logger, lines } = collect()
    logger.info('before', { executionId: 'a' })
    logger.traceWith((executionId) => ({ trace_id: `trace of ${executionId}`, span_id: 'b7', trace_flags: '01' }))
    logger.info('about a run', { executionId: 'a' })
    logger.access({ ...access(500), executionId: 'b' })
    logger.access(access(500))
    logger.info('about nothing')
    expect(lines().map((line) => line.trace_id)).toEqual([undefined, 'trace of a', 'trace of b', undefined, undefined])
    expect(lines()[1]).toMatchObject({ executionId: 'a', span_id: 'b7', trace_flags: '01' })
  })

  test('omits lines below its level', () => {
    const { logger, lines } = collect({ level: 'warn' })
    logger.debug('a')
    logger.info('b')
    logger.warn('c')
    logger.error('d')
    expect(lines().map(({ message }) => message)).toEqual(['c', 'd'])
  })

  test('shows an error with its stack and its causes, up to a depth', () => {
    const { logger, lines } = collect()
    const circular = new Error('round')
    circular.cause = circular
    logger.error('failed', { cause: new TypeError('outer', { cause: circular }) })
    const [{ cause }] = lines()
    expect(cause).toMatchObject({ name: 'TypeError', message: 'outer', cause: { message: 'round' } })
    expect(cause.stack).toContain('logger.test.ts')
  })

  test('accepts anything and never throws', () => {
    const { logger, lines } = collect()
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    logger.info('big', { n: 1n })
    logger.info('circular', circular)
    expect(lines()[0]).toMatchObject({ n: '1' })
    expect(lines()[1]).toMatchObject({ message: 'circular' })
    const broken = collect({
      write: () => {
        throw new Error('EPIPE')
      },
    })
    expect(() => broken.logger.error('x')).not.toThrow()
  })

  test('logs requests according to its setting, whatever its level', () => {
    const statuses = (setting: LoggerOptions['access']) => {
      const { logger, lines } = collect({ access: setting, level: 'error' })
      for (const status of [200, 304, 400, 500]) logger.access(access(status))
      return lines().map(({ status }) => status)
    }
    expect(statuses('off')).toEqual([])
    expect(statuses('errors')).toEqual([400, 500])
    expect(statuses('all')).toEqual([200, 304, 400, 500])
  })

  test('says in advance which requests are logged', () => {
    expect(collect({ access: 'off' }).logger.accessFrom).toBe(Number.POSITIVE_INFINITY)
    expect(collect({ access: 'errors' }).logger.accessFrom).toBe(400)
    expect(collect({ access: 'all' }).logger.accessFrom).toBe(0)
  })

  test('never contains what it was told to redact', () => {
    const { logger, texts, lines } = collect({ access: 'all' })
    const redactor = createRedactor([
      { name: 'TOKEN', value: 'hunter22"' },
      { name: 'WORD', value: 'status' },
    ])!
    logger.redactWith(redactor.redact.bind(redactor))
    const cause = new Error('the token hunter22" was refused', { cause: new Error(btoa('hunter22"')) })
    logger.error('failed with hunter22"', { cause, message2: ['hunter22"'], nothing: undefined })
    logger.access({ ...access(200), path: '/x/hunter22%22' })
    expect(texts.join('')).not.toMatch(/hunter22|aHVudGVyMjIi/)
    expect(lines()).toMatchObject([
      {
        time: '1970-01-01T00:00:00.000Z',
        level: 'error',
        message: 'failed with {{TOKEN}}',
        cause: { message: 'the token {{TOKEN}} was refused', cause: { message: '{{TOKEN}}' } },
        message2: ['{{TOKEN}}'],
      },
      { message: 'request', path: '/x/{{TOKEN}}', status: 200 },
    ])
  })
})
