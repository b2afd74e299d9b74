import { describe, expect, test } from 'bun:test'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import type { Store } from '../../../../src/store/store.ts'
import { block, document } from '../../make.ts'
import type { Installed } from '../installed.ts'

/** The contract of every store for documents with secrets that authors wrote. */
export function sealedDocumentContract(here: () => { store: Store; home: Installed }): void {
  const withSecret = (secret: string, more = ''): WorkflowDocument => ({
    ...document({ blocks: [block('talk', 'chat_trigger', { password: { $sealed: secret }, welcome: more })] }),
    name: `Talk ${secret}`,
  })
  const create = async (each: WorkflowDocument) => {
    const { store, home } = here()
    return await store.createWorkflow({ id: null, workspaceId: home.workspaceId, document: each, at: 1 })
  }
  const secretsIn = (texts: readonly (string | undefined)[]) =>
    texts.map((text) => /"\$sealed":"(.*?)"/.exec(text ?? '')?.[1]).toSorted()

  describe('a document with sealed secrets', () => {
    test('is found in drafts, versions and drafts of manual runs, and others are not', async () => {
      const { store, home } = here()
      await create({ ...document({ blocks: [block('a', 'chat_trigger', { welcome: '"$sealed"' })] }), name: 'None' })
      const { id } = await create(withSecret('draft'))
      await store.deploy(id, withSecret('version'), 2, home.userId)
      await store.keepDraft(id, withSecret('manual'))
      const places = await store.listSealedDocuments()
      expect(places.map(({ workspaceId }) => workspaceId)).toEqual(places.map(() => home.workspaceId))
      const found = await Promise.all(places.map((place) => store.readDocument(place)))
      expect(secretsIn(found)).toEqual(['draft', 'manual', 'version'])
      expect(secretsIn(await store.sampleSealedDocuments())).toEqual(['draft', 'manual', 'version'])
    })

    test('is in the sample if it is a small one among the newest or oldest', async () => {
      const { store } = here()
      await create(withSecret('oldest'))
      for (let number = 0; number < 20; number += 1) await create(withSecret(`middle ${number}`, 'x'))
      await create(withSecret('newest'))
      await create(withSecret('large', 'x'.repeat(10_000)))
      expect(secretsIn(await store.sampleSealedDocuments())).toEqual(['newest', 'oldest'])
    })

    test('can be replaced without counting as saved', async () => {
      const { store } = here()
      const { id, revision } = await create(withSecret('old'))
      const [place] = await store.listSealedDocuments()
      const before = (await store.readDocument(place!))!
      expect(await store.replaceDocument(place!, before, before.replaceAll('old', 'new'), false)).toBe(true)
      const now = await store.getWorkflow(id)
      expect(now?.document.blocks['talk']?.params).toEqual({ password: { $sealed: 'new' }, welcome: '' })
      expect(now?.revision).toBe(revision)
    })

    test('is replaced only if nobody changed it since, and counts as saved', async () => {
      const { store } = here()
      const { id, revision } = await create(withSecret('lost'))
      const [place] = await store.listSealedDocuments()
      const before = (await store.readDocument(place!))!
      const after = before.replace('{"$sealed":"lost"}', 'null')
      expect(await store.replaceDocument(place!, `${before} `, after)).toBe(false)
      expect((await store.getWorkflow(id))?.revision).toBe(revision)
      expect(await store.replaceDocument(place!, before, after)).toBe(true)
      const now = await store.getWorkflow(id)
      expect(now?.revision).toBe(revision + 1)
      expect(now?.document.blocks['talk']?.params).toEqual({ password: null, welcome: '' })
      expect(await store.listSealedDocuments()).toEqual([])
    })
  })
}
