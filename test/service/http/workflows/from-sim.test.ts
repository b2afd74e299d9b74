import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { BuiltIn } from '../../../../src/connectors/built-in.ts'
import { ModelServer, type ScriptedResponse } from '../../../support/models/model-server.ts'
import { httpPeer } from '../../../support/outbound/peers.ts'
import type { SimFile } from '../../../support/sim/files.ts'
import { competitorMonitor, releaseAnnouncement } from '../../../support/sim/templates.ts'
import { ManualWorld } from '../runs/manual-world.ts'
import type { Parsed } from '../world.ts'

/** A request to the stand-in of a service. */
type Seen = { path: string; authorization: string | null; body: Parsed }

let world: ManualWorld
let models: ModelServer
let peer: ReturnType<typeof httpPeer>
let seen: Seen[] = []
let said: ScriptedResponse[] = []
let heard = Promise.withResolvers<void>()

beforeAll(async () => {
  peer = httpPeer(async (request) => {
    const { pathname: path } = new URL(request.url)
    seen.push({ path, authorization: request.headers.get('authorization'), body: await request.json() })
    if (path === '/api/chat.postMessage') heard.resolve()
    return Response.json(
      path === '/v2/scrape'
        ? { success: true, data: { markdown: '# Prices: 12 euro', metadata: { title: 'Prices' } } }
        : { ok: true, ts: '1.2', channel: 'C0', message: { text: 'sent' } },
    )
  })
  models = await ModelServer.start(() => said.shift() ?? {})
  world = await ManualWorld.open({ 'body-bytes-max': '100000' })
  await setVariable('VLLM_BASE_URL', models.url)
  await setVariable('VLLM_API_KEY', 'model-key')
  await setVariable('GITHUB_SECRET', 'github-secret')
  await setVariable('SLACK_BOT_TOKEN', 'xoxb-of-the-team')
  await setVariable('FIRECRAWL_API_KEY', 'fc-of-the-team')
})
afterAll(async () => {
  await world.close()
  await models[Symbol.asyncDispose]()
  await peer.stop(true)
})
beforeEach(() => {
  seen = []
  heard = Promise.withResolvers()
})

describe('a workflow from Sim runs to its end', () => {
  test('when GitHub sends a release that the team is told about', async () => {
    const id = await importAndFill(releaseAnnouncement())
    const deployed = await world.executions.call(`/api/workflows/${id}/deploy`, { method: 'POST' })
    expect([deployed.status, deployed.text]).toEqual([200, expect.any(String)])
    said = [{ text: ['Version 2 is here.'] }]
    const url: string = deployed.json.webhookUrl
    const release = { name: 'Second', tag_name: 'v2', body: 'Faster.', html_url: 'https://github.example/v2' }
    expect((await sendAsGitHub(url, 'issues', { action: 'opened', issue: { number: 1 } })).status).toBe(202)
    expect((await sendAsGitHub(url, 'release', { action: 'published', release })).status).toBe(202)
    await heard.promise
    expect(seen).toEqual([
      {
        path: '/api/chat.postMessage',
        authorization: 'Bearer xoxb-of-the-team',
        body: { channel: 'C0RELEASES', text: 'Version 2 is here.\nhttps://github.example/v2' },
      },
    ])
    expect(JSON.stringify(models.requests.at(-1)?.body)).toContain('Announce Second (v2): Faster.')
    const forged = await sendAsGitHub(url, 'release', { action: 'published', release }, 'another secret')
    expect(forged.status).toBe(401)
  })

  test('when its agent reads a page with the tool and the digest is sent', async () => {
    const id = await importAndFill(competitorMonitor())
    said = [
      { toolCalls: [{ id: 'c1', name: 'Firecrawl', arguments: '{"url":"https://rival.example/pricing"}' }] },
      { text: ['The price is 12 euro.'] },
    ]
    const { ended } = await world.again(id, {})
    expect(ended).toMatchObject({ status: 'success' })
    expect(seen).toEqual([
      {
        path: '/v2/scrape',
        authorization: 'Bearer fc-of-the-team',
        body: { url: 'https://rival.example/pricing', formats: ['markdown'], onlyMainContent: true },
      },
      {
        path: '/api/chat.postMessage',
        authorization: 'Bearer xoxb-of-the-team',
        body: { channel: 'C0RIVALS', text: 'The price is 12 euro.' },
      },
    ])
  })
})

/** Imports a file, and creates the credentials that its report names. Returns the ID of the workflow. */
async function importAndFill(file: SimFile): Promise<string> {
  const { status, json } = await world.executions.call('/api/workflows/import', { body: { document: file } })
  expect([status, json.placeholders]).toEqual([201, []])
  for (const { name, kind } of json.credentials as { name: string; kind: string }[]) {
    // The report says which variable held the secret.
    const note = (json.notes as string[]).find((text) => text.includes(`credential "${name}" was {{`))
    const variable = /\{\{\w+\}\}/.exec(note ?? '')?.[0]
    const body = { name, kind, hosts: [`127.0.0.1:${peer.port}`], secrets: { token: variable } }
    const made = await world.executions.call(`${home()}/credentials`, { body })
    expect([201, 409]).toContain(made.status)
  }
  await callStandIns(json.id)
  return json.id
}

/** Lets the operations of a workflow call the stand-in: connectors with the same operations at another address. */
async function callStandIns(id: string): Promise<void> {
  const { json: document } = await world.executions.call(`/api/workflows/${id}`)
  let text = JSON.stringify(document)
  for (const service of ['slack', 'firecrawl']) {
    const connector = (await new BuiltIn().find(service))!
    const standIn = `${service}-stand-in`
    const baseUrl = `http://127.0.0.1:${peer.port}${new URL(connector.baseUrl).pathname}`
    const body = { ...connector, id: standIn, name: standIn, baseUrl }
    const put = await world.executions.call(`${home()}/connectors/${standIn}`, { method: 'PUT', body })
    expect([200, 201]).toContain(put.status)
    text = text.replaceAll(`"connector":"${service}"`, `"connector":"${standIn}"`)
  }
  const saved = await world.executions.call(`/api/workflows/${id}`, { method: 'PUT', text })
  expect([saved.status, saved.text.slice(0, 500)]).toEqual([200, expect.any(String)])
}

async function setVariable(name: string, value: string): Promise<void> {
  const set = await world.executions.call(`${home()}/environment/${name}`, { method: 'PUT', body: { value } })
  expect([200, 201, 204]).toContain(set.status)
}

function home(): string {
  return `/api/workspaces/${world.executions.workspaceId}`
}

async function sendAsGitHub(url: string, event: string, body: object, secret = 'github-secret'): Promise<Response> {
  const text = JSON.stringify(body)
  const signature = new Bun.CryptoHasher('sha256', secret).update(text).digest('hex')
  return await fetch(url.replace(/^https?:\/\/[^/]+/, world.executions.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-hub-signature-256': `sha256=${signature}`,
    },
    body: text,
  })
}
