import { expect, test } from 'bun:test'
import { registry } from '../../../../src/blocks/registry.ts'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { giveParameters } from '../../../../src/engine/compile/given-parameters.ts'
import { block, document } from '../../../support/make.ts'

const hook = (params: Record<string, unknown> = {}, id = 'hook') =>
  document({ blocks: [block(id, 'webhook_trigger', params), block('after', 'wait', { ms: 1 })] })
const give = (draft: WorkflowDocument, before?: WorkflowDocument) =>
  giveParameters(draft, before, registry, () => 'new-text')
const pathOf = ({ blocks }: WorkflowDocument, id = 'hook') => blocks[id]?.params?.['path']

test('a missing path is generated', () => {
  expect(pathOf(give(hook()))).toBe('new-text')
  expect(pathOf(give(hook({ path: '' })))).toBe('new-text')
  expect(pathOf(give(hook({ path: null })))).toBe('new-text')
  expect(give(hook({ methods: ['PUT'] })).blocks['hook']?.params).toEqual({ methods: ['PUT'], path: 'new-text' })
})

test('a path that the author wrote stays', () => {
  const chosen = hook({ path: 'orders' })
  expect(give(chosen, hook({ path: 'before' }))).toBe(chosen)
})

test('a generated path stays when the document is saved again without it', () => {
  const before = hook({ path: 'given' })
  expect(pathOf(give(hook(), before))).toBe('given')
  expect(pathOf(give(hook({}, 'renamed'), before), 'renamed')).toBe('given')
  expect(pathOf(give(hook(), document({ blocks: [] })))).toBe('new-text')
})
