import { Type as t } from '@sinclair/typebox'
import { BlockError, defineBlock } from '../engine/block.ts'

/** Keeps a block of another product that the import could not convert. Prevents deployment. */
export const placeholder = defineBlock({
  type: 'placeholder',
  label: 'Placeholder',
  description: 'Keeps an imported block that has no counterpart. Replace it before you deploy the workflow.',
  kind: 'step',
  parameters: t.Object({
    needs: t.String({ title: 'Needs', description: 'What is missing.', default: 'a replacement', maxLength: 2_000 }),
    original: t.Optional(t.Unknown({ title: 'Original', description: 'The content of the imported block.' })),
  }),
  // The references in the original are those of the other product.
  modes: { needs: 'literal', original: 'literal' },
  outputs: [],
  mayFail: true,
  check: (_params, _facts, { needs }) => [
    { level: 'error', code: 'PLACEHOLDER', path: 'needs', message: messageOf(needs) },
  ],
  run({ needs }) {
    throw new BlockError('PLACEHOLDER', messageOf(needs))
  },
})

function messageOf(needs: unknown): string {
  const missing = typeof needs === 'string' && needs.trim() !== '' ? needs.trim() : 'a replacement'
  return `This block needs ${missing}. Replace or delete the placeholder.`
}
