import { afterEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { AppError } from '../../../../src/domain/errors.ts'
import { logIdOf } from '../../../../src/domain/ids.ts'
import type { LogPage, LogQuery } from '../../../../src/store/log-query.ts'
import { appendLogs } from '../../../support/store/append-logs.ts'
import { HttpWorld, type Parsed } from '../world.ts'

/** A part of a page has about a megabyte: two of these entries. */
const spanChars = 600_000

let world: HttpWorld
let asked: LogQuery[]
let respond: (page: () => Promise<LogPage>) => Promise<LogPage>
afterEach(() => world.close())

/** Starts a service with some long entries. Tests can delay its store or make it fail; `asked` records its queries. */
async function open(entries: number): Promise<string[]> {
  asked = []
  respond = (page) => page()
  world = await HttpWorld.open({
    override: ({ store }) => ({
      store: {
        ...store,
        queryLogs(query) {
          asked.push(query)
          return respond(() => store.queryLogs(query))
        },
      },
    }),
  })
  const workflowId = await world.deployed()
  const rows = Array.from({ length: entries }, (_, index) => {
    const output = `${index} "ü\n${'x'.repeat(spanChars)}`
    const row = world.logRow(workflowId, { finalOutput: `{"n":${index}}` })
    const [span] = JSON.parse(row.traceSpans)
    return { ...row, traceSpans: JSON.stringify([{ ...span, output }]) }
  })
  await appendLogs(world.store, rows)
  return rows.map(({ sequence }) => logIdOf(sequence))
}

const everything = '&order=asc&details=full&includeTraceSpans=true&includeFinalOutput=true'

describe('a page with long texts', () => {
  test('is the same page, whether it is read in one part or in several', async () => {
    const ids = await open(9)
    for (const limit of [1, 2, 3, 8, 9, 100]) {
      asked = []
      const { status, headers, json } = await world.logs(`${everything}&limit=${limit}`)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toStartWith('application/json')
      expect(headers.get('x-ratelimit-limit')).not.toBeNull()
      expect(headers.get('x-request-id')).not.toBeNull()
      expect(json.data.map(({ id }: Parsed) => id)).toEqual(ids.slice(0, limit))
      for (const [index, entry] of json.data.entries()) {
        expect(entry.finalOutput).toEqual({ n: index })
        expect(entry.traceSpans[0].output).toStartWith(`${index} "ü\nx`)
        expect(entry.traceSpans[0].output).toHaveLength(`${index} "ü\n`.length + spanChars)
        expect(entry.cost.models).toEqual({})
      }
      expect(json.limits.usage.plan).toBe('enterprise')
      expect(asked.length).toBe(Math.ceil(Math.min(limit, 9) / 2))
      // Its cursor continues after it, with or without the long texts.
      const rest = await world.logs(`&order=asc&cursor=${json.nextCursor}`)
      expect(rest.json.data.map(({ id }: Parsed) => id)).toEqual(ids.slice(limit))
    }
  })

  test('says whether there are more entries', async () => {
    const ids = await open(5)
    const newest = (query: string) => world.logs(`&includeTraceSpans=1${query}`)
    const first = await newest('&limit=3')
    expect(first.json.data.map(({ id }: Parsed) => id)).toEqual(ids.slice(2).toReversed())
    const second = await newest(`&limit=2&cursor=${first.json.nextCursor}`)
    expect(second.json.data.map(({ id }: Parsed) => id)).toEqual(ids.slice(0, 2).toReversed())
    expect(second.json.nextCursor).toBeNull()
    expect((await newest('&limit=5')).json.nextCursor).toBeNull()
    expect((await newest('&limit=100')).json.nextCursor).toBeNull()
  })

  test('is refused before anything is sent', async () => {
    await open(5)
    const refused = async (query: string, code: string) => {
      const { status, json, headers } = await world.logs(`${everything}${query}`)
      expect({ query, status, code: json.code }).toEqual({ query, status: 400, code })
      expect(headers.get('content-length')).not.toBeNull()
    }
    await refused('&limit=0', 'INVALID_PARAMETERS')
    await refused('&cursor=abc', 'INVALID_CURSOR')
    respond = () => Promise.reject(new AppError('STORAGE_UNAVAILABLE', 'The disk is away.', { retryAfterS: 1 }))
    expect((await world.logs(everything)).status).toBe(503)
  })

  test('that cannot be read to its end breaks the connection, and the log says why', async () => {
    await open(9)
    respond = (page) => (asked.length < 3 ? page() : Promise.reject(new Error('the reason')))
    const response = await fetch(`${world.url}/api/v1/logs?workspaceId=${world.workspaceId}${everything}`, {
      headers: { 'x-api-key': world.owner },
    })
    expect(response.status).toBe(200)
    const outcome = await response.text().then(
      () => 'whole',
      () => 'broken',
    )
    expect(outcome).toBe('broken')
    const line = world.lines.find(({ message }) => message === 'response broke off')
    expect(line).toMatchObject({
      level: 'error',
      path: '/api/v1/logs',
      requestId: response.headers.get('x-request-id'),
    })
    expect(JSON.stringify(line)).toContain('the reason')
    expect((await world.get('/health/live')).status).toBe(200)
  })

  test('is read no faster than its caller takes it', async () => {
    const ids = await open(60)
    const caller = await Caller.ask(world, `${everything}&limit=60`)
    // Each of these requests is a turn of the event loop, which is enough time for a server that does not wait.
    for (let turn = 0; turn < 50; turn += 1) await world.get('/health/live')
    expect(asked.length).toBeLessThan(15)
    const body = await caller.readAll()
    expect(asked.length).toBe(30)
    for (const id of ids) expect(body).toContain(`"id":"${id}"`)
    expect(body).toEndWith('\r\n0\r\n\r\n')
  })

  test.each(['succeeds', 'fails'])(
    'is not read further for a caller that has left, when the current read %s',
    async (outcome) => {
      await open(60)
      const held = Promise.withResolvers<void>()
      const arrived = Promise.withResolvers<void>()
      respond = async (page) => {
        if (asked.length === 2) {
          arrived.resolve()
          await held.promise
          if (outcome === 'fails') throw new Error('Too late to matter')
        }
        return page()
      }
      const caller = await Caller.ask(world, `${everything}&limit=60`)
      await arrived.promise
      await caller.leave()
      for (let turn = 0; turn < 10; turn += 1) await world.get('/health/live')
      held.resolve()
      for (let turn = 0; turn < 10; turn += 1) await world.get('/health/live')
      expect(asked.length).toBe(2)
      expect(world.lines.filter(({ level }) => level === 'error')).toEqual([])
    },
  )
})

/** A caller that sends a query, and reads only when it is told to. */
class Caller {
  readonly #socket: ReturnType<typeof connect>

  static async ask({ port, workspaceId, owner }: HttpWorld, query: string): Promise<Caller> {
    const socket = connect(port, '127.0.0.1')
    await new Promise<void>((resolve) => socket.once('connect', resolve))
    socket.pause()
    const head = [
      `GET /api/v1/logs?workspaceId=${workspaceId}${query} HTTP/1.1`,
      'Host: localhost',
      `X-API-Key: ${owner}`,
    ]
    await new Promise<void>((resolve) => socket.write(`${head.join('\r\n')}\r\n\r\n`, () => resolve()))
    return new Caller(socket)
  }

  private constructor(socket: ReturnType<typeof connect>) {
    this.#socket = socket
  }

  async readAll(): Promise<string> {
    const whole = Promise.withResolvers<void>()
    const pieces: string[] = []
    this.#socket.on('data', (data) => {
      pieces.push(data.toString('latin1'))
      if (pieces.slice(-7).join('').endsWith('\r\n0\r\n\r\n')) whole.resolve()
    })
    this.#socket.on('close', () => whole.resolve())
    this.#socket.resume()
    await whole.promise
    this.#socket.destroy()
    return pieces.join('')
  }

  async leave(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()))
    this.#socket.destroy()
    await closed
  }
}
