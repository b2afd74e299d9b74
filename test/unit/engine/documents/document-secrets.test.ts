import { expect, test } from 'bun:test'
import { deriveKey } from '../../../../src/accounts/key-file.ts'
import { SecretBox } from '../../../../src/accounts/secret-box.ts'
import { registry } from '../../../../src/blocks/registry.ts'
import { SliceQueue } from '../../../../src/domain/slice-queue.ts'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { CompileQueue } from '../../../../src/engine/compile/compile-queue.ts'
import { DocumentSecrets, sealHeadsInDocuments } from '../../../../src/engine/document-secrets.ts'
import { block, document } from '../../../support/make.ts'

const keys = ['new', 'old'].map((text) => deriveKey(text.repeat(12)))

function secretsWith(box: SecretBox): DocumentSecrets {
  return new DocumentSecrets({
    registry,
    seal: (text, context) => box.sealAlike(text, context),
    open: (sealed, context) => box.openText(sealed, context),
    isCurrent: (sealed) => box.isCurrent(sealed),
    work: new CompileQueue({ slices: new SliceQueue({ monotonic: () => 0 }), shareFactor: 4 }),
  })
}

const talk = (password: unknown): WorkflowDocument =>
  document({ blocks: [block('talk', 'chat_trigger', { identifier: 'help', access: 'password', password })] })

test('a document that is stored again holds its secrets encrypted with the current key', async () => {
  const older = new SecretBox(keys.slice(1), { directory: '', secretKey: undefined })
  const box = new SecretBox(keys, { directory: '', secretKey: undefined })
  const stored = await secretsWith(older).sealed(talk('hunter2'), 'w')
  const again = await secretsWith(box).sealed(stored, 'w')
  expect(sealHeadsInDocuments([JSON.stringify(again)], registry, 5)).toEqual([box.currentHead!])
  expect((await secretsWith(box).opened(again, 'w')).blocks['talk']?.params).toMatchObject({ password: 'hunter2' })
  // Equal to the same secret written now, so that a draft with it equals its version.
  expect(again).toEqual(await secretsWith(box).sealed(talk('hunter2'), 'w'))
  expect(await secretsWith(box).sealed(again, 'w')).toBe(again)
  // A secret of another workspace cannot be read, and stays.
  expect(await secretsWith(box).sealed(stored, 'elsewhere')).toEqual(stored)
})
