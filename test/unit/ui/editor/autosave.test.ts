import { afterEach, expect, test } from 'bun:test'
import type { Document } from '../../../../src/ui/editor/document/document.ts'
import { Autosave, type CopyKeeper } from '../../../../src/ui/editor/save/autosave.ts'
import { Draft } from '../../../../src/ui/editor/save/draft.ts'

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
      name: request.body ? (JSON.parse(String(request.body)).name as string) : '',
    })
    revision += 1
    return responses.shift()?.() ?? Response.json({ revision, findings: [], blocks: {} })
  }) as unknown as typeof fetch
  return { sent, responses }
}

function editing(copies?: CopyKeeper) {
  const draft = new Draft({ name: 'one', blocks: {}, edges: [] })
  const rename = (name: string) => draft.perform({ kind: 'describe', name })
  return { draft, rename, autosave: new Autosave(draft, 'w1', 1, copies) }
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

/** Somebody else has saved the given document in the meantime. */
function savedByOthers(responses: (() => Response)[], theirs: Document, revision: number) {
  const details = [{ path: 'revision', message: 'Saved by ada@example.com.' }]
  responses.push(
    () => Response.json({ error: 'Saved by ada@example.com.', code: 'CONFLICT', details }, { status: 409 }),
    () => Response.json({ ...theirs, id: 'w1', workspaceId: 'home', revision, updatedAt: '2026-01-01T10:00:00Z' }),
  )
}

test('changes of others are merged and sent, and undo reverts only what was done here', async () => {
  const { sent, responses } = service()
  const { draft, rename, autosave } = editing()
  savedByOthers(responses, { name: 'one', description: 'theirs', blocks: {}, edges: [] }, 7)
  rename('two')
  expect(await autosave.flush()).toBe(true)
  expect(sent.map(({ match, name }) => [match, name])).toEqual([
    ['"1"', 'two'],
    [null, ''],
    ['"7"', 'two'],
  ])
  expect(draft.state().document).toMatchObject({ name: 'two', description: 'theirs' })
  draft.undo()
  expect(draft.state().document).toMatchObject({ name: 'one', description: 'theirs' })
})

test('a value that both changed is not sent until the user chooses, and the choice can be undone', async () => {
  const { sent, responses } = service()
  const { draft, rename, autosave } = editing()
  savedByOthers(responses, { name: 'theirs', blocks: {}, edges: [] }, 7)
  rename('mine')
  expect(await autosave.flush()).toBe(false)
  const { save } = autosave.info()
  if (save.phase !== 'conflict') throw new Error(save.phase)
  expect(save.conflicts).toEqual([{ path: ['name'], base: 'one', mine: 'mine', theirs: 'theirs' }])
  draft.perform({ kind: 'describe', description: 'typed meanwhile' })
  expect(await autosave.flush()).toBe(false)
  expect(sent.length).toBe(2)
  await autosave.resolve(save.conflicts)
  expect(draft.state().document).toMatchObject({ name: 'theirs', description: 'typed meanwhile' })
  expect([autosave.info().save.phase, sent.at(-1)?.match]).toEqual(['saved', '"7"'])
  draft.undo()
  expect(draft.state().document.name).toBe('mine')
})

test('a draft without changes of its own takes over what others save, with its check', async () => {
  const { sent, responses } = service()
  const { draft, autosave } = editing()
  const findings = [{ level: 'error', code: 'NO_TRIGGER', path: 'blocks', blockId: null, message: 'No trigger.' }]
  const theirs = { name: 'theirs', blocks: {}, edges: [], findings }
  const workflow = { ...theirs, id: 'w1', workspaceId: 'home', revision: 4, updatedAt: '' }
  responses.push(
    () => Response.json({ workflow }),
    () => Response.json({ workflow: null }),
  )
  await autosave.pull()
  expect(draft.state().document.name).toBe('theirs')
  expect(autosave.info()).toMatchObject({ save: { phase: 'saved' }, revision: 4, findings })
  await autosave.pull()
  expect(autosave.info()).toMatchObject({ save: { phase: 'saved' }, revision: 4, findings })
  await autosave.flush()
  expect(sent.length).toBe(2)
})

test('a copy is kept while the service cannot be reached, and removed when it has everything', async () => {
  const { responses } = service()
  const kept: string[] = []
  const keeper = {
    keep: ({ document }: { document: Document }) => kept.push(document.name),
    clear: () => kept.push('-'),
  }
  const { rename, autosave } = editing(keeper)
  responses.push(() => {
    throw new TypeError('Failed to fetch')
  })
  rename('two')
  expect(await autosave.flush()).toBe(false)
  expect([autosave.info().save.phase, kept]).toEqual(['failed', ['two']])
  expect(await autosave.flush()).toBe(true)
  expect(kept).toEqual(['two', '-'])
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
