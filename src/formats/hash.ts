import { FormatError } from './format-error.ts'
import type { Job, Operation } from './job.ts'
import { choiceOption, textOption } from './options.ts'
import { piecesOf } from './source.ts'

const algorithms = ['sha256', 'sha1', 'sha512', 'md5'] as const

/** The hash of a text, of the JSON of a value, or of the content of a file. */
export const hash: Operation = (job) => {
  return digestOf(job, new Bun.CryptoHasher(choiceOption(job.options, 'algorithm', algorithms, 'sha256')))
}

/** The same with a secret, as services sign their webhooks. */
export const hmac: Operation = (job) => {
  const secret = textOption(job.options, 'secret', '')
  if (secret === '') {
    throw new FormatError('INVALID_PARAMETER', 'The option "secret" is empty. Set it, for example to {{SIGNING_KEY}}.')
  }
  return digestOf(job, new Bun.CryptoHasher(choiceOption(job.options, 'algorithm', algorithms, 'sha256'), secret))
}

function digestOf({ input, options }: Job, hasher: Bun.CryptoHasher) {
  const encoding = choiceOption(options, 'encoding', ['hex', 'base64', 'base64url'], 'hex')
  if (input.kind === 'file') for (const piece of piecesOf(input.file)) hasher.update(piece)
  else hasher.update(input.kind === 'text' ? input.text : input.json)
  return { ok: true as const, json: JSON.stringify(hasher.digest(encoding)) }
}
