import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { deliveryIdOf, logIdOf, newExecutionId, newId } from '../../../../src/domain/ids.ts'
import { HttpWorld, type Parsed } from '../world.ts'
import { type AccessRow, accessTable, crossings, takenBy } from './access-table.ts'
import { AccessWorld, isSession, type Kind, kinds, standings, type Things } from './access-world.ts'

describe('every route', () => {
  let world: AccessWorld
  beforeAll(async () => {
    world = await AccessWorld.open()
  })
  // Requests without a valid key are counted by address, and all requests here have the same address.
  beforeEach(() => world.letAMinutePass())
  afterAll(() => world.close())

  test('is in the access table', async () => {
    const routes = (await world.app.routes())
      .filter(({ method }) => method !== 'WS')
      .map(({ method, path }) => `${method} ${path}`)
    const rows = new Set(accessTable.map(({ route }) => route))
    expect(routes.filter((route) => !rows.has(route.replace(/(\w)\/$/, '$1')))).toEqual([])
    expect(rows.size).toBe(new Set(routes.map((route) => route.replace(/(\w)\/$/, '$1'))).size)
  })

  for (const row of accessTable) {
    test(`${row.route} (${row.at}) responds to every kind of key and session as in the table, and changes nothing for callers without access`, async () => {
      const refused = kinds.filter((kind) => expectedStatus(row, kind) !== row.ok)
      const allowed = kinds.filter((kind) => expectedStatus(row, kind) === row.ok)
      const found: Partial<Record<Kind, number>> = {}
      const things = await world.things()
      const before = await stateOf(things)
      for (const kind of refused) found[kind] = (await send(row, kind, things)).status
      expect(await stateOf(things)).toEqual(before)
      // Requests that change something get new targets, so that every cell starts in the same state.
      for (const kind of allowed) {
        const isChange = row.needs !== 'read' && row.needs !== 'nothing'
        found[kind] = (await send(row, kind, isChange ? await world.things() : things)).status
      }
      expect(found).toEqual(Object.fromEntries(kinds.map((kind) => [kind, expectedStatus(row, kind)])))
    })

    if (row.needs !== 'nothing' && row.needs !== 'page') {
      test(`${row.route} (${row.at}) explains what is wrong with a key or session, and treats all callers without a valid one alike`, async () => {
        const things = await world.things()
        const codes: Record<string, string> = {}
        for (const kind of kinds.filter((one) => expectedStatus(row, one) === 401)) {
          codes[kind] = codeIn((await send(row, kind, things)).text)
        }
        const expected = kinds.filter((kind) => isOutside(row, kind)).map((kind) => [kind, expectedCode(row, kind)])
        expect(codes).toEqual(Object.fromEntries(expected))
      })
    }
  }

  for (const row of [...accessTable, ...crossings].filter(
    ({ needs }) => !['nothing', 'page', 'key', 'operator'].includes(needs),
  )) {
    test(`${row.route} (${row.at}) does not reveal that a foreign object exists`, async () => {
      const things = await world.things()
      const foreign = kinds.filter((kind) => standings[kind] === 'foreign' && !isOutside(row, kind))
      for (const kind of foreign) {
        const real = await send(row, kind, things)
        const missing = await send(row, kind, { ...nothing(), own: things.own })
        expect([kind, real.status, codeIn(real.text)]).toEqual([kind, 404, 'NOT_FOUND'])
        expect([kind, real.text]).toEqual([kind, missing.text])
        expect(namesOf(real.headers)).toEqual(namesOf(missing.headers))
      }
    })
  }

  test('forbids browsers to guess the type of its responses', async () => {
    const things = await world.things()
    const found: string[] = []
    for (const row of accessTable) {
      for (const kind of ['none', "the owner's, personal"] as const) {
        const { status, headers } = await send(row, kind, things)
        if (headers.get('x-content-type-options') !== 'nosniff') found.push(`${row.route}, ${kind}: ${status}`)
      }
    }
    expect(found).toEqual([])
  })

  test('of the logs finds nothing that is foreign by any filter', async () => {
    const things = await world.things()
    const key = world.keys['foreign, personal']
    const own = (await ownThings()).workspace
    const list = async (query: string) =>
      JSON.parse((await call('GET', `/api/v1/logs?workspaceId=${own}${query}`, key)).text)
    for (const filter of ['workflowIds=<workflow>', 'executionId=<execution>']) {
      const { data, nextCursor } = await list(`&${filled(filter, things)}`)
      expect({ data, nextCursor }).toEqual({ data: [], nextCursor: null })
    }
    const { nextCursor } = JSON.parse(
      (await call('GET', `/api/v1/logs?workspaceId=${things.workspace}&order=asc`, world.keys["the owner's, personal"]))
        .text,
    )
    expect((await list(`&order=asc&cursor=${nextCursor}`)).code).toBe('INVALID_CURSOR')
  })

  const call = (...args: Parameters<AccessWorld['call']>) => world.call(...args)

  /** A deployed workflow of the outsider, with a run. */
  async function ownThings(): Promise<Things> {
    const key = world.keys['foreign, personal']
    const { data } = JSON.parse((await call('GET', '/api/workspaces', key)).text)
    return world.things(data[0].id, key)
  }

  async function send(row: AccessRow, kind: Kind, things: Things) {
    const own = row.at.includes('<own>') ? (await ownThings()).workflow : ''
    const method = row.route.startsWith('ALL') ? 'GET' : (row.route.split(' ')[0] ?? '')
    const filledIn = { ...things, own }
    const body = row.body === undefined ? undefined : filled(row.body, filledIn).replace('<name>', newId())
    return call(method, filled(row.at, filledIn), await world.credential(kind), body)
  }

  /** Everything that a call could have changed. */
  async function stateOf({ workspace, workflow }: Things) {
    const { store } = world.app
    return {
      workflow: await store.getWorkflow(workflow),
      deployments: await store.listDeployments(workflow),
      names: (await store.listWorkflows(workspace)).map(({ document }) => document.name),
      last: await store.lastSequence(),
      environment: await store.listEnvironment(workspace),
      webhooks: await store.listSubscriptions(workflow),
      deliveries: await store.listDeliveries({ workflowId: workflow, state: undefined, after: undefined, limit: 10 }),
      workspace: await store.getWorkspace(workspace),
      members: await store.listMembers(workspace),
      keys: (await store.listKeys()).map(({ id, revokedAt }) => [id, revokedAt]),
    }
  }
})

/** The expected status of a row for one kind of credential. */
function expectedStatus(row: AccessRow, kind: Kind): number {
  const { needs, ok } = row
  if (needs === 'nothing') return ok
  const isForged = kind === 'session, used by a page of another origin' && !row.route.startsWith('GET')
  if (needs === 'page') return isForged ? 403 : ok
  if (isOutside(row, kind)) return 401
  if (isForged) return 403
  if (needs === 'key') return ok
  if (needs === 'operator') return standings[kind] === 'owner' ? ok : 403
  const standing = standings[kind]
  if (standing === 'foreign' || (needs === 'own' && standing !== 'owner')) return 404
  if (needs === 'owner') return standing === 'owner' ? ok : 403
  return standing === 'viewer' && needs !== 'read' ? 403 : ok
}

/** Whether a route does not recognise the credential of this kind. */
function isOutside(row: AccessRow, kind: Kind): boolean {
  const taken = takenBy(row)
  return standings[kind] === 'invalid' || (taken !== 'both' && taken !== (isSession(kind) ? 'session' : 'key'))
}

function expectedCode(row: AccessRow, kind: Kind): string {
  if (takenBy(row) === 'session') return 'SIGN_IN_REQUIRED'
  if (isSession(kind)) return takenBy(row) === 'key' ? 'API_KEY_REQUIRED' : 'SIGN_IN_REQUIRED'
  return kind === 'none' ? 'API_KEY_REQUIRED' : 'INVALID_API_KEY'
}

/** Well-formed IDs of objects that do not exist. */
function nothing(): Things {
  return {
    workspace: newId(),
    workflow: newId(),
    execution: newExecutionId(),
    alert: newId(),
    log: logIdOf(1),
    own: newId(),
    member: newId(),
    key: newId(),
    deleted: newId(),
    webhook: newId(),
    delivery: deliveryIdOf({ sequence: 1, subscription: 1 }, newExecutionId()),
    pause: newId(),
    pausedRun: newExecutionId(),
  }
}

function filled(text: string, things: Things): string {
  return Object.entries(things).reduce((done, [name, id]) => done.replaceAll(`<${name}>`, id), text)
}

function namesOf(headers: Headers): string[] {
  return [...headers.keys()].sort()
}

describe('a key', () => {
  let world: HttpWorld
  let mine: { workflowId: string }
  let bound: string
  beforeAll(async () => {
    world = await HttpWorld.open()
    mine = { workflowId: await world.deployed() }
    bound = await world.key({ workspaceId: world.workspaceId })
  })
  afterAll(() => world.close())

  test('of a workspace works in that workspace only', async () => {
    const other = await world.accounts.addWorkspace(world.userId)
    const response = await world.get(`/api/workflows?workspaceId=${other}`, { key: bound })
    expect(response.status).toBe(404)
    const personal = await world.key()
    expect((await world.get(`/api/workflows?workspaceId=${other}`, { key: personal })).status).toBe(200)
    const { json } = await world.get('/api/workspaces', { key: bound })
    expect(json.data.map(({ id }: Parsed) => id)).toEqual([world.workspaceId])
  })

  test('of an editor may change the workflows that it can read', async () => {
    const key = await world.member('editor')
    const { json } = await world.get(`/api/workflows/${mine.workflowId}`, { key })
    expect((await world.call('PUT', `/api/workflows/${mine.workflowId}`, { key, body: json })).status).toBe(200)
    expect((await world.get('/api/workspaces', { key })).json.data).toMatchObject([{ name: 'Main', role: 'editor' }])
  })

  test('keeps its default workspace when its account is invited to another one', async () => {
    const userId = await world.accounts.addUser()
    const own = await world.accounts.addWorkspace(userId)
    const key = await world.key({ userId })
    const body = { name: 'Mine', blocks: {}, edges: [] }
    const made = await world.post('/api/workflows', body, { key })
    expect(made.status).toBe(201)
    await world.accounts.addMember(userId, world.workspaceId, 'editor')
    const late = await world.key({ userId })
    const { json } = await world.get('/api/workflows', { key: late })
    expect(json.data.map(({ id }: Parsed) => id)).toEqual([made.json.id])
    expect((await world.get(`/api/workflows?workspaceId=${own}`, { key: late })).json).toEqual(json)
    expect((await world.post('/api/workflows', { ...body, name: 'Next' }, { key: late })).status).toBe(201)
    expect((await world.get('/api/workflows', { key: late })).json.data).toHaveLength(2)
  })

  test('must name the workspace unless its account owns or can access exactly one', async () => {
    const details = async (key: string) => {
      const { status, json } = await world.get('/api/workflows', { key })
      return [status, json.code, json.details?.[0].path]
    }
    const rich = await world.accounts.addUser()
    for (let n = 0; n < 2; n += 1) await world.accounts.addWorkspace(rich)
    expect(await details(await world.key({ userId: rich }))).toEqual([400, 'INVALID_PARAMETERS', 'workspaceId'])
    const guest = await world.accounts.addUser()
    for (const id of [world.workspaceId, await world.accounts.addWorkspace(rich)])
      await world.accounts.addMember(guest, id, 'viewer')
    expect(await details(await world.key({ userId: guest }))).toEqual([400, 'INVALID_PARAMETERS', 'workspaceId'])
  })

  test('is read from the header in upper and lower case, and only from there', async () => {
    const send = (headers: Record<string, string>, query = '') =>
      world.get(`/api/workspaces${query}`, { key: null, headers }).then(({ status }) => status)
    expect(await send({ 'X-API-KEY': world.owner })).toBe(200)
    expect(await send({ 'x-api-key': world.owner })).toBe(200)
    expect(await send({}, `?x-api-key=${world.owner}`)).toBe(401)
  })

  test('opens no workspace named like a member of every object', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect((await world.get(`/api/workflows?workspaceId=${name}`)).status).toBe(404)
      expect((await world.get(`/api/v1/logs?workspaceId=${name}`)).status).toBe(404)
    }
  })
})

describe('a route that needs no key', () => {
  let world: HttpWorld
  beforeAll(async () => {
    world = await HttpWorld.open()
  })
  afterAll(() => world.close())

  test('has a request id on every response', async () => {
    const paths = accessTable.filter(({ needs, ok }) => needs === 'nothing' && ok === 200).map(({ at }) => at)
    expect(paths.length).toBeGreaterThan(5)
    for (const path of paths) {
      const { status, headers } = await world.get(path, { key: null })
      expect([path, status]).toEqual([path, 200])
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  test('the sample route returns quotes, filtered by tag', async () => {
    const { json } = await world.get('/sample/quotes', { key: null })
    expect(json.data.length).toBeGreaterThan(3)
    const { json: some } = await world.get('/sample/quotes?tag=Time', { key: null })
    expect(some.data.length).toBeGreaterThan(0)
    expect(some.data.every(({ tag }: Parsed) => tag === 'time')).toBe(true)
    // The sample workflow sends this request when its caller sends no tag.
    expect((await world.get('/sample/quotes?tag=', { key: null })).json).toEqual(json)
    expect((await world.get('/sample/quotes?tag=unknown', { key: null })).json).toEqual({ data: [] })
  })
})

/** The code of an error, in the shape of either version of the API. */
function codeIn(text: string): string {
  const { code, error } = JSON.parse(text)
  return code ?? error.details?.code ?? error.code
}
