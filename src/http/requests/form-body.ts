import { AppError } from '../../domain/errors.ts'
import { isObject } from '../../domain/run/input.ts'
import { membersOf } from '../../domain/run/members-of.ts'
import { contentTypeOf } from '../../domain/text/text-content.ts'
import type { FormField } from '../../domain/workflow/form.ts'
import type { ReceiveFiles, ReceiveForm, Upload } from '../../files/upload.ts'
import { parseJsonBody, readBytes, readChunks } from './body.ts'
import { uncountedBytes } from './body-budget.ts'
import type { BodyLimits } from './body-limits.ts'
import { readContent } from './webhook-content.ts'

export type FormBodyServices = {
  receiveFiles: ReceiveFiles
  receiveForm: ReceiveForm
  settings: {
    /** For the texts of a form, and for one without files. */
    anonymousBody: BodyLimits
    formWithFiles: BodyLimits
  }
}

export type FormBodyCall = {
  request: Request
  fields: readonly FormField[]
  /** The member of JSON that contains the fields, and the first part of their names in a form; absent at the top. */
  within?: string
  /** The network of a visitor without a credential. */
  visitor: string | undefined
}

/** The content of a body, with file items in the fields for files. `members`: everything beside the fields. */
export type FormBody = { members: Record<string, unknown>; values: Record<string, unknown>; upload: Upload }

/**
 * Reads a form as it arrives: JSON, a form or a multipart form. Passes it to `use`; files that are not stored then are
 * deleted afterwards. Throws INVALID_JSON, INVALID_INPUT, PAYLOAD_TOO_LARGE.
 */
export async function receiveFormBody<Result>(
  { receiveFiles, receiveForm, settings }: FormBodyServices,
  { request, fields, within, visitor }: FormBodyCall,
  use: (body: FormBody) => Promise<Result>,
): Promise<Result> {
  const names = fields.filter(({ type }) => type === 'files').map(({ name }) => name)
  const { anonymousBody, formWithFiles } = settings
  const limits = { ...(names.length > 0 ? formWithFiles : anonymousBody), visitor }
  const uploading = { text: anonymousBody.bytes, files: limits.files }
  let upload: Upload | undefined
  try {
    if (isForm(request.headers)) {
      const content = await readContent(request, await readBytes(request, limits), limits)
      const { own, others } = dividedBy(content.kind === 'entries' ? content.entries : [], within)
      const form = await receiveForm(own, names, uploading)
      upload = form.upload
      return await use({ members: membersOf(others), values: form.values, upload })
    }
    upload = await receiveFiles(readChunks(request, limits), names, uploading, within)
    if (upload.text.length > uncountedBytes) limits.budget.add(request, upload.text.length, visitor)
    const sent = objectOf(upload.text === '' ? {} : await parseJsonBody(request, upload.text, limits), 'The body')
    if (within === undefined) return await use({ members: {}, values: sent, upload })
    const { [within]: values, ...members } = sent
    return await use({ members, values: objectOf(values ?? {}, within), upload })
  } catch (error) {
    await upload?.takeBack(error)
    throw error
  } finally {
    limits.budget.release(request)
    await upload?.discard()
  }
}

/** Nothing else counts as an empty form: an answer would approve by accident. */
function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (isObject(value)) return value
  throw new AppError('INVALID_INPUT', `${name} must be a JSON object.`)
}

function isForm(headers: Headers): boolean {
  const { type } = contentTypeOf(headers.get('content-type') ?? '')
  return type === 'application/x-www-form-urlencoded' || type === 'multipart/form-data'
}

type Entry = readonly [name: string, entry: string | File | null]

/** The entries of a form whose names begin with `within` and a dot, without that; and the others. */
function dividedBy(entries: readonly Entry[], within: string | undefined): { own: Entry[]; others: Entry[] } {
  if (within === undefined) return { own: [...entries], others: [] }
  const prefix = `${within}.`
  const isOwn = ([name]: Entry) => name.startsWith(prefix)
  return {
    own: entries.filter(isOwn).map(([name, entry]) => [name.slice(prefix.length), entry]),
    others: entries.filter((entry) => !isOwn(entry)),
  }
}
