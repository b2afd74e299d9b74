import { expect, test } from 'bun:test'
import { HeldProblems, isOutdated } from '../../../../src/ui/editor/held-problems.ts'
import { Draft } from '../../../../src/ui/editor/save/draft.ts'

const blockOf = (id: string) => ({ id, type: 'agent', name: id, enabled: true, params: {} })
const draftOf = (...ids: string[]) =>
  new Draft({ name: 'W', blocks: Object.fromEntries(ids.map((id) => [id, blockOf(id)])), edges: [] } as never)
const finding = (path: string, blockId: string | null = path.split('.')[1] ?? null) =>
  ({ level: 'error', code: 'X', path, blockId, blockName: blockId, message: path }) as never as Parameters<
    HeldProblems['shown']
  >[0][number]
const model = finding('blocks.new.params.model')
const prompt = finding('blocks.new.params.userPrompt')
const loose = finding('blocks.new')
const old = finding('blocks.old.params.headers[0].key')

test('the problems of an added block wait until each field, or the block, was left', () => {
  const draft = draftOf('new', 'old')
  const held = new HeldProblems(draft)
  held.hold('new')
  draft.select(['new'])
  expect(held.shown([model, prompt, loose, old])).toEqual([old])
  held.leave('new', 'model')
  expect(held.shown([model, prompt, loose])).toEqual([model])
  draft.select(['old'])
  expect(held.shown([model, prompt, loose])).toEqual([model, prompt, loose])
})

test('the problems of a field wait while it is being changed', () => {
  const draft = draftOf('new', 'old')
  const held = new HeldProblems(draft)
  draft.select(['old'])
  held.change('old', 'headers')
  expect(held.shown([old, model])).toEqual([model])
  held.leave('old', 'headers')
  expect(held.shown([old])).toEqual([old])
  // A value that is dropped into a field changes it without giving it the focus.
  held.change('old', 'headers')
  draft.select([])
  expect(held.shown([old])).toEqual([old])
})

test('a run that was tried shows everything, also what concerns the whole of a new workflow', () => {
  const held = new HeldProblems(draftOf())
  const noTrigger = finding('blocks', null)
  held.hold('new')
  expect(held.shown([noTrigger, model])).toEqual([])
  let told = 0
  held.watch(() => {
    told += 1
  })
  held.showAll()
  expect(told).toBe(1)
  expect(held.shown([noTrigger, model])).toEqual([noTrigger, model])
})

test('a problem with the settings of a container belongs to their field', () => {
  const draft = draftOf('new')
  const held = new HeldProblems(draft)
  const items = finding('loops.new.forEachItems')
  held.hold('new')
  expect(held.shown([items])).toEqual([])
  held.leave('new', 'forEachItems')
  expect(held.shown([items])).toEqual([items])
})

test('a problem is outdated once its field has another value than the one that was checked', () => {
  const checked = draftOf('new').state().document
  const changed = (params: Record<string, unknown>) => ({
    ...checked,
    blocks: { new: { ...checked.blocks['new']!, params } },
  })
  expect(isOutdated(model, checked, changed({ userPrompt: 'Hi' }))).toBe(false)
  expect(isOutdated(model, checked, changed({ model: 'm' }))).toBe(true)
  expect(isOutdated(loose, checked, changed({ model: 'm' }))).toBe(false)
  const items = finding('loops.new.forEachItems')
  const looped = { ...checked, loops: { new: { nodes: [], loopType: 'forEach' as const, forEachItems: '[1]' } } }
  expect([isOutdated(items, checked, checked), isOutdated(items, checked, looped as never)]).toEqual([false, true])
})
