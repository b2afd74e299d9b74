import { AppError } from '../../domain/errors.ts'
import { isObject } from '../../domain/run/input.ts'
import { membersOf } from '../../domain/run/members-of.ts'
import { contentTypeOf } from '../../domain/text/text-content.ts'
import type { FormField } from '../../domain/workflow/form.ts'
import { formText } from '../../files/form-parts.ts'
import { boundaryOf } from '../../files/multipart-reader.ts'
import type { ReceiveFiles, ReceiveForm, Upload } from '../../files/upload.ts'
import { parseJsonBody, readBytes, readChunks } from './body.ts'
import { uncountedBytes } from './body-budget.ts'
import type { BodyLimits } from './body-limits.ts'
import { readContent } from './webhook-content.ts'

export type FormBodyServices = {
  receiveFiles: ReceiveFiles
  receiveForm: ReceiveForm
  settings: {
    /** The limits of a form without files, and of the texts of every form. */
    anonymousBody: BodyLimits
    formWithFiles: BodyLimits
  }
}

export type FormBodyCall = {
  request: Request
  fields: readonly FormField[]
  /** The JSON member with the fields; in a form, the prefix of their names. Absent: the fields are at the top. */
  within?: string
  /** The network of a visitor without a credential. */
  visitor: string | undefined
}

/** The content of a body, with file items in the fields for files. `members`: everything except the fields. */
export type FormBody = { members: Record<string, unknown>; values: Record<string, unknown>; upload: Upload }

/**
 * Reads JSON, a URL-encoded form or a multipart form, and passes it to `use`. Files that `use` does not store are
 * deleted afterwards. Throws INVALID_JSON, INVALID_INPUT or PAYLOAD_TOO_LARGE.
 */
export async function receiveFormBody<Result>(
  { receiveFiles, receiveForm, settings }: FormBodyServices,
  { request, fields, within, visitor }: FormBodyCall,
  use: (body: FormBody) => Promise<Result>,
): Promise<Result> {
  const names = fields.filter(({ type }) => type === 'files').map(({ name }) => name)
  const { anonymousBody, formWithFiles } = settings
  const limits = { ...(names.length > 0 ? formWithFiles : anonymousBody), visitor }
  const uploading = { text: anonymousBody.bytes, files: limits.files, fields: limits.fields }
  const contentType = request.headers.get('content-type') ?? ''
  let upload: Upload | undefined
  try {
    switch (contentTypeOf(contentType).type) {
      case 'multipart/form-data': {
        const chunks = readChunks(request, limits)
        const form = await receiveForm(chunks, boundaryOf(contentType), names, uploading, within)
        upload = form.upload
        return await use({ ...dividedBy(form.entries, within), upload })
      }
      case 'application/x-www-form-urlencoded': {
        const textLimits = { ...anonymousBody, visitor }
        const content = await readContent(request, await readBytes(request, textLimits), textLimits)
        upload = await receiveFiles(nothing(), names, uploading)
        const entries = content.kind === 'entries' ? content.entries : []
        const texts = entries.map(([name, text]) => [name, formText(String(text))] as const)
        return await use({ ...dividedBy(texts, within), upload })
      }
      default: {
        upload = await receiveFiles(readChunks(request, limits), names, uploading, within)
        if (upload.text.length > uncountedBytes) limits.budget.add(request, upload.text.length, visitor)
        const sent = objectOf(upload.text === '' ? {} : await parseJsonBody(request, upload.text, limits), 'The body')
        if (within === undefined) return await use({ members: {}, values: sent, upload })
        const { [within]: values, ...members } = sent
        return await use({ members, values: objectOf(values ?? {}, within), upload })
      }
    }
  } catch (error) {
    await upload?.takeBack(error)
    throw error
  } finally {
    limits.budget.release(request)
    await upload?.discard()
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Any other body is refused: if it counted as an empty form, an answer would approve by accident. */
function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (isObject(value)) return value
  throw new AppError('INVALID_INPUT', `${name} must be a JSON object.`)
}

type Entry = readonly [name: string, value: unknown]

/** Divides the entries of a form. `values`: those whose names begin with `within` and a dot, without this prefix. */
function dividedBy(entries: readonly Entry[], within: string | undefined): Pick<FormBody, 'members' | 'values'> {
  if (within === undefined) return { members: {}, values: membersOf(entries) }
  const prefix = `${within}.`
  const isOwn = ([name]: Entry) => name.startsWith(prefix)
  return {
    members: membersOf(entries.filter((entry) => !isOwn(entry))),
    values: membersOf(entries.filter(isOwn).map(([name, value]) => [name.slice(prefix.length), value])),
  }
}
