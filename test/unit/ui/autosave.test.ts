import { afterEach, expect, test } from 'bun:test'
import { Autosave } from '../../../src/ui/editor/save/autosave.ts'
import { Draft } from '../../../src/ui/editor/save/draft.ts'

const own = globalThis.fetch
afterEach(() => {
  globalThis.fetch = own
})

/** A fake service: records requests and returns the queued responses. */
function service() {
  const sent: { match: string | null; name: string }[] = []
  const responses: (() => Response)[] = []
  let revision = 1
  globalThis.fetch = (async (_: string, request: RequestInit) => {
    sent.push({
      match: new Headers(request.headers).get('if-match'),
      name: JSON.parse(String(request.body)).name as string,
    })
    revision += 1
    return responses.shift()?.() ?? Response.json({ revision, findings: [], blocks: {} })
  }) as unknown as typeof fetch
  return { sent, responses }
}

function editing() {
  const draft = new Draft({ name: 'one', blocks: {}, edges: [] })
  const rename = (name: string) => draft.perform({ kind: 'describe', name })
  return { draft, rename, autosave: new Autosave(draft, 'w1', 1) }
}

test('each save names the revision it is based on', async () => {
  const { sent } = service()
  const { rename, autosave } = editing()
  rename('two')
  expect(autosave.info().save.phase).toBe('unsaved')
  expect(await autosave.flush()).toBe(true)
  rename('three')
  await autosave.flush()
  expect(sent).toEqual([
    { match: '"1"', name: 'two' },
    { match: '"2"', name: 'three' },
  ])
  expect(autosave.info().save.phase).toBe('saved')
})

test('a change that is undone before it was sent is not sent', async () => {
  const { sent } = service()
  const { draft, rename, autosave } = editing()
  rename('two')
  draft.undo()
  expect(autosave.info().save.phase).toBe('saved')
  await autosave.flush()
  expect(sent).toEqual([])
})

test('changes saved by somebody else are not overwritten', async () => {
  const { sent, responses } = service()
  const { draft, rename, autosave } = editing()
  const details = [{ path: 'revision', message: 'Saved by ada@example.com.' }]
  responses.push(() =>
    Response.json({ error: 'Saved by ada@example.com.', code: 'CONFLICT', details }, { status: 409 }),
  )
  rename('two')
  expect(await autosave.flush()).toBe(false)
  expect(autosave.info().save).toEqual({ phase: 'conflict', message: 'Saved by ada@example.com.' })
  rename('three')
  expect(await autosave.flush()).toBe(false)
  expect(sent.length).toBe(1)
  autosave.adopt({ name: 'theirs', blocks: {}, edges: [] }, 7)
  expect([draft.state().document.name, autosave.info().save.phase]).toEqual(['theirs', 'saved'])
  rename('mine again')
  await autosave.flush()
  expect(sent.at(-1)).toEqual({ match: '"7"', name: 'mine again' })
})

test('a document that the service rejects stays in the editor with the error', async () => {
  const { responses } = service()
  const { rename, autosave } = editing()
  responses.push(() => Response.json({ error: 'There is one of that name.', code: 'CONFLICT' }, { status: 409 }))
  rename('taken')
  expect(await autosave.flush()).toBe(false)
  expect(autosave.info().save).toEqual({ phase: 'rejected', message: 'There is one of that name.' })
  rename('free')
  expect(await autosave.flush()).toBe(true)
})

test('a path assigned by the service is adopted without losing typed text or undo steps', async () => {
  const { sent, responses } = service()
  const { draft, autosave } = editing()
  const hook = { id: 'h', type: 'webhook_trigger', name: 'Hook', params: {} }
  const chat = { id: 'c', type: 'chat_trigger', name: 'Chat', params: {} }
  draft.perform({ kind: 'add', block: hook, edgeId: 'e1' })
  draft.perform({ kind: 'add', block: chat, edgeId: 'e2' })
  const type = (identifier: string) => draft.perform({ kind: 'set', id: 'c', params: { identifier } }, 'typed')
  responses.push(() => {
    // Happens while the request is in flight.
    type('he')
    const given = { h: { ...hook, params: { path: 'given' } }, c: { ...chat, params: { identifier: 'given' } } }
    return Response.json({ revision: 2, findings: [], blocks: given, webhookUrl: 'https://here/given' })
  })
  await autosave.flush()
  type('hello')
  const params = () => Object.values(draft.state().document.blocks).map((block) => block.params)
  expect(params()).toEqual([{ path: 'given' }, { identifier: 'hello' }])
  expect(autosave.info().triggerDetails).toEqual({ webhookUrl: 'https://here/given' })
  draft.undo()
  expect(params()).toEqual([{ path: 'given' }, { identifier: 'given' }])
  expect(autosave.info().save.phase).toBe('saved')
  draft.undo()
  expect(params()).toEqual([{ path: 'given' }])
  draft.undo()
  expect(params()).toEqual([])
  expect(sent.length).toBe(1)
})

test('a path that was emptied for typing stays empty', async () => {
  const { responses } = service()
  const { draft, autosave } = editing()
  const hook = { id: 'h', type: 'webhook_trigger', name: 'Hook', params: { path: '' } }
  draft.perform({ kind: 'add', block: hook, edgeId: 'e1' })
  responses.push(() =>
    Response.json({ revision: 2, findings: [], blocks: { h: { ...hook, params: { path: 'given' } } } }),
  )
  expect(await autosave.flush()).toBe(true)
  expect(draft.state().document.blocks['h']?.params).toEqual({ path: '' })
})
