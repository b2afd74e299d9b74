import type { TObject, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { estimateSize } from '../../domain/estimate-size.ts'
import { coerce } from '../../domain/run/input.ts'
import { BlockError, type ParameterMode, type ProgramCall } from '../block.ts'
import { blockSizeError } from '../block-size.ts'
import type { Frame, Getter } from '../run/frame.ts'
import { parameterLabel } from './parameter-label.ts'
import { validationErrorsOf } from './validation-errors.ts'

/** Reads the parameters of one block when it starts. Throws `BlockError` when they do not fit its schema. */
export type Parameters = (frame: Frame) => Record<string, unknown>

/** One parameter. `known`: its static value or source text. `get`: reads its value during a run. */
export type Member = { name: string; schema: TSchema; known: unknown; get: Getter | undefined; mode: ParameterMode }

/** By schema. Compiling a check takes longer than most parameters, and many blocks have the same type. */
export type Checks = Map<TSchema, TypeCheck<TSchema>>

export function readerOf(schema: TObject, members: readonly Member[], checks: Checks): Parameters {
  // Frozen, because every execution of the block receives the same object.
  const constants = Object.freeze(
    Object.fromEntries(members.flatMap(({ name, known, get }) => (get ? [] : [[name, known]]))),
  )
  const reads = members.flatMap(({ name, schema: member, get, mode }) => {
    if (!get) return []
    const check = isFunction(mode) ? undefined : checkOf(member, checks)
    return [{ name, get, schema: member, required: schema.required?.includes(name) ?? false, check, mode }]
  })
  if (reads.length === 0) return () => constants
  return (frame) => {
    const params: Record<string, unknown> = { ...constants }
    const { run } = frame
    const max = run.blockBytesMax
    run.filledChars = 0
    let bytes = 0
    for (const { name, get, schema: member, required, check, mode } of reads) {
      const filled = get(frame)
      bytes += sizeOf(filled, mode, max - bytes)
      // Checked before anything reads the value: a text that is joined from many pieces has no memory of its own yet.
      const tooLarge = blockSizeError('parameters', bytes, max)
      if (tooLarge) throw tooLarge
      const value = check ? fit(filled, member) : filled
      if (check === undefined || check.Check(value)) {
        params[name] = value
        continue
      }
      if (value !== null || (required && member.default === undefined)) {
        const { path, clause } = validationErrorsOf(member, value)[0] ?? { path: '', clause: 'does not fit' }
        throw new BlockError('INVALID_PARAMETER', `${parameterLabel(name, member, path)} ${clause}.`)
      }
      // A reference that reads null counts as an absent parameter.
      if (member.default !== undefined) params[name] = member.default
    }
    return params
  }
}

/** Converts scalars in text form, as from forms and environment variables, to the schema's type. */
export function fit(value: unknown, schema: TSchema): unknown {
  const type = schema.type === 'integer' ? 'number' : (schema.type as unknown)
  if (type !== 'number' && type !== 'boolean' && type !== 'string') return value
  return value === null ? value : (coerce(value, type) ?? value)
}

function checkOf(schema: TSchema, checks: Checks): TypeCheck<TSchema> {
  const check = checks.get(schema) ?? TypeCompiler.Compile(schema)
  checks.set(schema, check)
  return check
}

/** Whether the parameter is a function of the values. */
export function isFunction(mode: ParameterMode): boolean {
  return mode === 'code' || mode === 'expressions' || mode === 'own' || mode === 'tools'
}

/** The size of the values in a parameter. Those of expressions and tools are filled in later. */
function sizeOf(value: unknown, mode: ParameterMode, max: number): number {
  if (mode === 'expressions' || mode === 'own' || mode === 'tools') return 0
  return estimateSize(mode === 'code' ? (value as Partial<ProgramCall>).values : value, max)
}
