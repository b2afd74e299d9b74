import type { TObject, TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { coerce, isObject } from '../../domain/run/input.ts'
import { asText } from '../../domain/workflow/reference.ts'
import { type CodeSlot, compileCode } from '../../language/code.ts'
import { compileExpression } from '../../language/expression.ts'
import { NotNative } from '../../language/work.ts'
import {
  BlockError,
  type Evaluate,
  type Expressions,
  type FillTool,
  type ParameterMode,
  type ProgramCall,
  type WorkflowFacts,
} from '../block.ts'
import type { Frame, Getter } from '../run/frame.ts'
import type { GraphNode } from './graph.ts'
import { type Place, type ReferenceResolver, ToolArguments } from './reference-resolver.ts'
import type { Report } from './report.ts'
import { type Compiled, compileJson, compileValue, getterOf, type Resolve } from './template.ts'
import { reportValidationErrors, validationErrorsOf } from './validation-errors.ts'

/** Reads the parameters of one block when it starts. Throws `BlockError` when they do not fit its schema. */
export type Parameters = (frame: Frame) => Record<string, unknown>

export type CompileContext = { resolver: ReferenceResolver; report: Report; facts: WorkflowFacts }

/** Compiles a block's parameters, and reports every error in them that is known before a run. */
export function compileParameters(node: GraphNode, context: CompileContext, at = placeOf(node)): Parameters {
  const { definition, block } = node
  const { report } = context
  const given = block.params ?? {}
  const schema = definition.parameters
  const members: Member[] = []
  for (const [name, member] of Object.entries(schema.properties)) {
    const raw = given[name] ?? (member.default as unknown)
    if (raw === undefined || raw === null) continue
    const place: Place = { ...at, path: `${at.path}.${name}` }
    const mode = modeOf(node, name, given)
    const compiled = compileParameter(raw, mode, { ...context, place, name })
    // Code and expressions compile to functions, so their source text is checked, and only here.
    const isCode = mode === 'code' || mode === 'expressions' || mode === 'tools'
    const known = compiled.constant ? fit(compiled.value, member) : isCode ? raw : undefined
    members.push({ name, schema: member, known, get: compiled.constant ? undefined : compiled.get, isCode })
  }
  for (const name of Object.keys(given)) {
    if (name in schema.properties) continue
    const known = Object.keys(schema.properties).join(', ') || 'none'
    report.add(
      'warning',
      'UNKNOWN_PARAMETER',
      `${at.path}.${name}`,
      block,
      `A block of the type ${block.type} has no parameter "${name}". It has: ${known}.`,
    )
  }
  reportValidationErrors(at, members, context)
  return reader(schema, members)
}

function placeOf(node: GraphNode): Place {
  return { node, scope: node.scope, path: `blocks.${node.id}.params` }
}

/** One parameter. `known`: its static value or source text. `get`: reads its value during a run. */
type Member = { name: string; schema: TSchema; known: unknown; get: Getter | undefined; isCode: boolean }

function modeOf({ definition }: GraphNode, name: string, given: Record<string, unknown>): ParameterMode {
  const mode = definition.modes?.[name]
  return (typeof mode === 'function' ? mode(given) : mode) ?? 'template'
}

type ExpressionContext = CompileContext & { place: Place }
type ParameterContext = ExpressionContext & { name: string }

function compileParameter(raw: unknown, mode: ParameterMode, context: ParameterContext): Compiled {
  const { resolver, report, place } = context
  const resolve: Resolve = (segment) => resolver.resolve(segment, place)
  switch (mode) {
    case 'literal':
      return { constant: true, value: raw }
    case 'template':
      return compileValue(raw, resolve)
    case 'json': {
      const { compiled, problem } = compileJson(raw, resolve)
      if (problem) report.add('warning', 'INVALID_JSON', place.path, place.node.block, problem)
      return compiled
    }
    case 'code':
      return compileCodeParameter(raw, resolve, context)
    case 'expressions':
      return compileExpressions(raw, context)
    case 'tools':
      return compileTools(raw, context)
  }
}

function compileCodeParameter(raw: unknown, resolve: Resolve, { report, place }: ParameterContext): Compiled {
  if (typeof raw !== 'string') return { constant: true, value: raw }
  const getters = new Map<string, Getter>()
  const compiled = compileCode(raw, (segment) => remember(getters, segment, resolve))
  if (!compiled.ok) {
    const { message, line } = compiled.problem
    report.add(
      'error',
      'SYNTAX_ERROR',
      place.path,
      place.node.block,
      `The code cannot be read: ${message} (line ${line}).`,
    )
    return { constant: false, get: () => raw }
  }
  const values = valuesOf(compiled.slots, getters)
  const { program } = compiled
  const sources = compiled.slots.map(({ segment }) => segment.source)
  return { constant: false, get: (frame): ProgramCall => ({ program, values: values(frame), sources }) }
}

function compileExpressions(raw: unknown, context: ParameterContext): Compiled {
  if (!Array.isArray(raw)) return { constant: true, value: raw }
  const entries = raw.map((entry: unknown, index) => {
    const expression = (entry as { expression?: unknown } | null)?.expression
    const path = `${context.place.path}.${index}.expression`
    if (typeof expression === 'string') {
      return {
        entry: entry as object,
        evaluate: compileEvaluate(expression, { ...context, place: { ...context.place, path } }),
      }
    }
    context.report.add('error', 'INVALID_PARAMETER', path, context.place.node.block, 'The expression must be a string.')
    return { entry: {}, evaluate: (): Evaluate => () => false }
  })
  const shown = Object.freeze({ [context.name]: raw as unknown[] })
  return {
    constant: false,
    get: (frame): Expressions => ({
      list: entries.map(({ entry, evaluate }) => ({ entry, evaluate: evaluate(frame) })),
      shown,
    }),
  }
}

/** The parameters of a tool's block are filled in when the model calls the tool, and can read its arguments. */
function compileTools(raw: unknown, context: ParameterContext): Compiled {
  if (!Array.isArray(raw)) return { constant: true, value: raw }
  const { resolver, place } = context
  const { node } = place
  const entries = raw.map((entry: unknown, index) => {
    const { params, ...rest } = (entry ?? {}) as { type?: unknown; params?: unknown }
    const definition = typeof rest.type === 'string' ? node.definition.toolBlocks?.[rest.type] : undefined
    const path = `${place.path}.${index}`
    const get = getterOf(compileValue(rest, (segment) => resolver.resolve(segment, { ...place, path })))
    if (!definition) return { get, filler: undefined }
    const args = new ToolArguments()
    const block = { ...node.block, type: definition.type, params: isObject(params) ? params : {} }
    const inner = { ...node, definition, block }
    const at = { ...placeOf(inner), path: `${path}.params`, args }
    const fill = compileParameters(inner, context, at)
    const filler = (frame: Frame): FillTool => {
      return (given) => args.during(given, () => fill(frame))
    }
    return { get, filler }
  })
  return {
    constant: false,
    get: (frame) =>
      entries.map(({ get, filler }) => ({ ...(get(frame) as object), ...(filler && { fill: filler(frame) }) })),
  }
}

/** Compiles one expression to a function of the frame. */
export function compileEvaluate(
  source: string,
  { resolver, report, place }: ExpressionContext,
): (frame: Frame) => Evaluate {
  const getters = new Map<string, Getter>()
  const compiled = compileExpression(source, (segment) =>
    remember(getters, segment, (inner) => resolver.resolve(inner, place)),
  )
  if (!compiled.ok) {
    report.add(
      'error',
      'SYNTAX_ERROR',
      place.path,
      place.node.block,
      `The expression cannot be read: ${compiled.problem.message}.`,
    )
    return () => () => false
  }
  const values = valuesOf(compiled.slots, getters)
  const { native, program } = compiled
  const inSandbox = async (frame: Frame, signal: () => AbortSignal) => {
    const request = { program, values: values(frame), timeoutMs: expressionTimeoutMs, signal: signal() }
    const outcome = await frame.run.runProgram(request)
    if (outcome.ok) return outcome.result
    const code = outcome.code === 'CODE_ERROR' ? 'EXPRESSION_ERROR' : outcome.code
    throw new BlockError(code, `The expression failed: ${outcome.message}`)
  }
  if (!native) return (frame) => (signal) => inSandbox(frame, signal)
  return (frame) => (signal) => {
    try {
      return native(values(frame), frame.run.expressionWorkMax)
    } catch (error) {
      if (error instanceof NotNative) return inSandbox(frame, signal)
      throw new BlockError('EXPRESSION_ERROR', `The expression failed: ${(error as Error).message}.`)
    }
  }
}

const expressionTimeoutMs = 5_000

function remember(getters: Map<string, Getter>, segment: CodeSlot['segment'], resolve: Resolve): boolean {
  if (getters.has(segment.source)) return true
  const getter = resolve(segment)
  if (getter) getters.set(segment.source, getter)
  return getter !== undefined
}

function valuesOf(slots: readonly CodeSlot[], getters: ReadonlyMap<string, Getter>): (frame: Frame) => unknown[] {
  const reads = slots.map(({ segment, as }) => {
    const get = getters.get(segment.source) ?? (() => null)
    return as === 'text' ? (frame: Frame) => asText(get(frame)) : (frame: Frame) => get(frame) ?? null
  })
  return (frame) => reads.map((read) => read(frame))
}

/** Converts scalars in text form, as from forms and environment variables, to the schema's type. */
export function fit(value: unknown, schema: TSchema): unknown {
  const type = schema.type === 'integer' ? 'number' : (schema.type as unknown)
  if (type !== 'number' && type !== 'boolean' && type !== 'string') return value
  return value === null ? value : (coerce(value, type) ?? value)
}

function reader(schema: TObject, members: readonly Member[]): Parameters {
  // Frozen, because every execution of the block receives the same object.
  const constants = Object.freeze(
    Object.fromEntries(members.flatMap(({ name, known, get }) => (get ? [] : [[name, known]]))),
  )
  const reads = members.flatMap(({ name, schema: member, get, isCode }) => {
    if (!get) return []
    const check = isCode ? undefined : TypeCompiler.Compile(member)
    return [{ name, get, schema: member, required: schema.required?.includes(name) ?? false, check }]
  })
  if (reads.length === 0) return () => constants
  return (frame) => {
    const params: Record<string, unknown> = { ...constants }
    for (const { name, get, schema: member, required, check } of reads) {
      const value = check ? fit(get(frame), member) : get(frame)
      if (check === undefined || check.Check(value)) {
        params[name] = value
        continue
      }
      if (value !== null || (required && member.default === undefined)) {
        const problem = validationErrorsOf(member, value)[0]?.clause
        throw new BlockError('INVALID_PARAMETER', `The parameter "${name}" does not fit: ${problem}.`)
      }
      // A reference that reads null counts as an absent parameter.
      if (member.default !== undefined) params[name] = member.default
    }
    return params
  }
}
