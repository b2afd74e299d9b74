import { isRecord, own } from '../../../domain/edits/same-value.ts'
import { isSecretHeader } from '../../../domain/secret-headers.ts'
import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'
import type { Block, Params } from './document.ts'

/** The part of a block type that tells which of its parameters are secrets. */
export type SecretType = {
  parameters: { properties: Readonly<Record<string, ParameterSchema>> }
  /** The block types of its tools. */
  tools: Readonly<Record<string, string>>
}
export type SecretTypes = ReadonlyMap<string, SecretType>

/** A secret that is written in a document. It is equal to another one with the same value, and shows nothing. */
export class MaskedSecret {
  /** The only member, so that a comparison of members compares the values. */
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
  toJSON(): string {
    return hidden
  }
}

export const hidden = '••••••'

/** The block with masks in place of the secrets that are written in it. Names of variables stay readable. */
export function maskedBlock(block: Block, types: SecretTypes): Block {
  const type = types.get(block.type)
  return type && block.params ? { ...block, params: maskedParams(block.params, type, types) } : block
}

function maskedParams(params: Params, { parameters, tools }: SecretType, types: SecretTypes): Params {
  const masked = Object.entries(params).map(([name, value]) => {
    const schema = own(parameters.properties, name)
    if (name === 'tools' && Array.isArray(value)) return [name, value.map((tool) => maskedTool(tool, tools, types))]
    return [name, schema ? maskedValue(value, schema) : value]
  })
  return Object.fromEntries(masked)
}

function maskedTool(tool: unknown, tools: SecretType['tools'], types: SecretTypes): unknown {
  if (!isRecord(tool) || !isRecord(tool['params'])) return tool
  const type = types.get(own(tools, String(tool['type'])) ?? '')
  return type ? { ...tool, params: maskedParams(tool['params'], type, types) } : tool
}

function maskedValue(value: unknown, schema: ParameterSchema): unknown {
  if (schema.secret === true) return masked(value)
  if (schema.secret === 'headers' && Array.isArray(value)) return value.map(maskedHeader)
  if (!schema.properties || !isRecord(value)) return value
  const members = Object.entries(value).map(([name, member]) => {
    const inner = own(schema.properties, name)
    return [name, inner ? maskedValue(member, inner) : member]
  })
  return Object.fromEntries(members)
}

function maskedHeader(header: unknown): unknown {
  if (!isRecord(header) || !isSecretHeader(String(header['key'] ?? ''))) return header
  return { ...header, value: masked(header['value']) }
}

function masked(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return value
  return typeof value === 'string' && /\{\{[A-Za-z_]\w*\}\}|<[^\s<>.][^<>\n]*\.[^<>\n]+>/.test(value)
    ? value
    : new MaskedSecret(value)
}
