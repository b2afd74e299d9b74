import { expect, test } from 'bun:test'
import { noRegistrations } from '../../../src/domain/workflow/trigger.ts'
import { NewerDrafts } from '../../../src/http/routes/editor/newer-drafts.ts'
import type { WorkflowRow } from '../../../src/store/workflow-store.ts'
import { ManualClock } from '../../support/clock.ts'
import { block, document } from '../../support/make.ts'

function open() {
  const clock = new ManualClock()
  const counts = { reads: 0, checks: 0 }
  const state = { revision: 1, isDown: false }
  const row = (): WorkflowRow => ({
    ...{ id: 'w1', workspaceId: 'home', revision: state.revision, createdAt: 0, updatedAt: 0, updatedBy: null },
    ...{
      activeVersion: null,
      deployedAt: null,
      hasChanges: false,
      document: document({ blocks: [block('start', 'api_trigger')] }),
    },
  })
  const drafts = new NewerDrafts({
    clock,
    store: {
      async getWorkflow(id) {
        counts.reads += 1
        if (state.isDown) throw new Error('down')
        return id === 'w1' ? row() : undefined
      },
    },
    async checkWorkflow() {
      counts.checks += 1
      return { findings: [], registrations: noRegistrations, nextTimes: undefined }
    },
    subscriptions: { of: async () => [] } as never,
    secrets: { shown: async (shown: object, _: string, sees: boolean) => ({ ...shown, name: `${sees}` }) } as never,
    settings: { baseUrl: () => 'http://x' } as never,
  })
  return { clock, counts, state, drafts }
}

test('everyone who asks for the draft after a save shares one reading and one check for each kind of rights', async () => {
  const { counts, state, drafts, clock } = open()
  state.revision = 2
  const texts = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => (await drafts.find('w1', 1))!.text(at % 2 === 0)),
  )
  expect(counts).toEqual({ reads: 1, checks: 2 })
  expect(new Set(texts.map(({ text }) => (JSON.parse(text) as { name: string }).name))).toEqual(
    new Set(['true', 'false']),
  )
  clock.advance(2_000)
  expect(clock.pending).toBe(0)
  await drafts.find('w1', 1)
  expect(counts.reads).toBe(2)
})

test('a draft that was read before a save is not given to somebody who knows of the save', async () => {
  const { counts, state, drafts, clock } = open()
  expect((await drafts.find('w1', 0))?.row.revision).toBe(1)
  clock.advance(1)
  state.revision = 2
  const found = await Promise.all(Array.from({ length: 100 }, () => drafts.find('w1', 1)))
  expect(found.map((each) => each?.row.revision)).toEqual(Array(100).fill(2))
  expect(counts.reads).toBe(2)
})

test('nobody checks a draft that is not newer, and a failed reading is not kept', async () => {
  const { counts, state, drafts } = open()
  expect((await drafts.find('w1', 1))?.row.revision).toBe(1)
  expect(counts).toEqual({ reads: 1, checks: 0 })
  expect(await drafts.find('none', 0)).toBeUndefined()
  state.isDown = true
  expect(drafts.find('w2', 0)).rejects.toThrow('down')
  await Promise.resolve()
  state.isDown = false
  expect(await drafts.find('w2', 0)).toBeUndefined()
})
