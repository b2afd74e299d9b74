import { describe, expect, test } from 'bun:test'
import { entryPoints } from '../../../../src/ui/editor/deploy/entry-points.ts'
import type { Document } from '../../../../src/ui/editor/document/document.ts'

const webhookUrl = 'https://here/api/webhooks/trigger/orders'
const chatUrl = 'https://here/chat/help'
const formUrl = 'https://here/form/order'
const schedule = { next: ['2025-01-01T09:00:00.000Z'] }

function documentWith(...blocks: { type: string; params?: Record<string, unknown> }[]): Document {
  return {
    name: 'Test',
    blocks: Object.fromEntries(blocks.map((block, at) => [`b${at}`, { ...block, id: `b${at}`, name: block.type }])),
    edges: [],
  }
}

describe('the entry points of a workflow', () => {
  test('each trigger has its URL or next runs, and a shell command that matches its settings', () => {
    const document = documentWith(
      { type: 'api_trigger' },
      { type: 'webhook_trigger', params: { methods: ['PUT'], authentication: { type: 'bearer', token: '{{T}}' } } },
      { type: 'chat_trigger', params: { access: 'public' } },
      { type: 'form_trigger', params: { title: 'Order' } },
      { type: 'schedule' },
      { type: 'api' },
    )
    const triggerDetails = { webhookUrl, chatUrl, formUrl, schedule }
    const points = entryPoints(document, triggerDetails, triggerDetails)
    expect(points.map(({ type, url, next, note }) => ({ type, url, next, note }))).toEqual([
      { type: 'webhook_trigger', url: webhookUrl, next: undefined, note: undefined },
      { type: 'chat_trigger', url: chatUrl, next: undefined, note: undefined },
      { type: 'form_trigger', url: formUrl, next: undefined, note: undefined },
      { type: 'schedule', url: undefined, next: schedule.next, note: undefined },
    ])
    expect(points[0]?.line).toBe(
      [
        `curl -sS -X PUT '${webhookUrl}'`,
        "  -H 'Authorization: Bearer YOUR_TOKEN'",
        "  -H 'Content-Type: application/json'",
        `  -d '{"hello":"world"}'`,
      ].join(' \\\n'),
    )
    expect(points[1]?.line).toStartWith("curl -sS -X POST 'https://here/api/chat/help'")
    expect(points[1]?.line).not.toContain('Key')
  })

  test('the command sends the fields that the blocks read', () => {
    const code = 'return <webhook.body.order.id> + <webhook_trigger.body.items[0].sku> + <webhook.query.page>'
    const hook = (methods: string[]) =>
      documentWith({ type: 'webhook_trigger', params: { methods } }, { type: 'function', params: { code } })
    const [posted] = entryPoints(hook(['GET', 'POST']), { webhookUrl }, undefined)
    expect(posted?.line).toBe(
      [
        `curl -sS -X POST '${webhookUrl}?page=text'`,
        "  -H 'Content-Type: application/json'",
        `  -d '{"order":{"id":"text"},"items":[{"sku":"text"}]}'`,
      ].join(' \\\n'),
    )
    const [got] = entryPoints(hook(['GET']), { webhookUrl }, undefined)
    expect(got?.line).toBe(`curl -sS -X GET '${webhookUrl}?page=text'`)
  })

  test('a webhook trigger that accepts GET gets a command without a body', () => {
    const [point] = entryPoints(
      documentWith({ type: 'webhook_trigger', params: { methods: ['GET'] } }),
      { webhookUrl },
      undefined,
    )
    expect(point?.line).toBe(`curl -sS -X GET '${webhookUrl}'`)
  })

  test('the URL of the live version takes precedence, and a note names the URL of the draft', () => {
    const document = documentWith({ type: 'webhook_trigger' })
    const note = (draft: string | undefined, live: { webhookUrl?: string } | undefined) =>
      entryPoints(document, draft ? { webhookUrl: draft } : {}, live)[0]
    expect(note('https://new', { webhookUrl })).toMatchObject({
      url: webhookUrl,
      note: 'After the next deployment, the URL is https://new',
    })
    expect(note(webhookUrl, undefined)?.note).toContain('inactive until the workflow is deployed')
    expect(note(webhookUrl, {})?.note).toContain('Deploy to activate it')
    expect(note(undefined, undefined)?.note).toContain('Fix the problems')
  })
})
