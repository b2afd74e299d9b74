import { limitSettings } from '../../domain/limits.ts'
import { isObject } from '../../domain/run/input.ts'
import type { Slices } from '../../domain/slices.ts'
import { type CodeSlot, compileCode } from '../../language/code.ts'
import { compileExpression } from '../../language/expression.ts'
import { NotNative } from '../../language/work.ts'
import {
  BlockError,
  type Evaluate,
  type Expressions,
  type FillOwn,
  type FillTool,
  type ParameterMode,
  type ProgramCall,
  type WorkflowFacts,
} from '../block.ts'
import { filledText } from '../block-size.ts'
import type { Frame, Getter } from '../run/frame.ts'
import type { GraphNode } from './graph.ts'
import { isOverlong, isTooLong } from './overlong.ts'
import { type Checks, fit, isFunction, type Member, type Parameters, readerOf } from './parameter-reader.ts'
import { GivenValues, type Place, type ReferenceResolver } from './reference-resolver.ts'
import { repeatedOf } from './repeated.ts'
import type { Report } from './report.ts'
import { type Compiled, compileJson, compileValue, getterOf, type Resolve } from './template.ts'
import { reportValidationErrors } from './validation-errors.ts'

export type CompileContext = {
  resolver: ReferenceResolver
  report: Report
  facts: WorkflowFacts
  checks: Checks
}

/** Compiles a block's parameters, and reports every error in them that is known before a run. */
export function* compileParameters(node: GraphNode, context: CompileContext, at = placeOf(node)): Slices<Parameters> {
  const { definition, block } = node
  const { report } = context
  const given = block.params ?? {}
  const schema = definition.parameters
  const members: Member[] = []
  const repeated = repeatedOf(node, given)
  for (const [name, member] of Object.entries(schema.properties)) {
    const raw = given[name] ?? (member.default as unknown)
    if (raw === undefined || raw === null) continue
    const place: Place = { ...(repeated ? repeated.placeOf(name, at) : at), path: `${at.path}.${name}` }
    const mode = modeOf(node, name, given)
    yield
    const compiled: Compiled = isOverlong(raw, member)
      ? { constant: true, value: raw }
      : yield* compileParameter(raw, mode, { ...context, place, name })
    // Code and expressions compile to functions, so their source text is checked, and only here.
    const isCode = isFunction(mode)
    const known = compiled.constant ? fit(compiled.value, member) : isCode ? raw : undefined
    members.push({ name, schema: member, known, get: compiled.constant ? undefined : compiled.get, mode })
  }
  const known = Object.keys(schema.properties).join(', ') || 'none'
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(schema.properties, name)) continue
    yield
    report.add(
      'warning',
      'UNKNOWN_PARAMETER',
      `${at.path}.${name}`,
      block,
      `A block of the type ${block.type} has no parameter "${name}". It has: ${known}.`,
    )
  }
  yield
  reportValidationErrors(at, members, context)
  const reader = (some: readonly Member[]) => readerOf(schema, some, context.checks)
  return repeated ? repeated.readerOf(members, reader) : reader(members)
}

function placeOf(node: GraphNode): Place {
  return { node, scope: node.scope, path: `blocks.${node.id}.params` }
}

function modeOf({ definition }: GraphNode, name: string, given: Record<string, unknown>): ParameterMode {
  const mode = definition.modes?.[name]
  return (typeof mode === 'function' ? mode(given) : mode) ?? 'template'
}

type ExpressionContext = CompileContext & { place: Place }
type ParameterContext = ExpressionContext & { name: string }

function* compileParameter(raw: unknown, mode: ParameterMode, context: ParameterContext): Slices<Compiled> {
  const { resolver, report, place } = context
  const resolve: Resolve = (segment) => resolver.resolve(segment, place)
  switch (mode) {
    case 'literal':
      return { constant: true, value: raw }
    case 'template':
      return yield* compileValue(raw, resolve)
    case 'json': {
      const { compiled, problem } = yield* compileJson(raw, resolve)
      if (problem) report.add('warning', 'INVALID_JSON', place.path, place.node.block, problem)
      return compiled
    }
    case 'code':
      return yield* compileCodeParameter(raw, resolve, context)
    case 'expressions':
      return yield* compileExpressions(raw, context)
    case 'own':
      return yield* compileOwn(raw, context)
    case 'tools':
      return yield* compileTools(raw, context)
  }
}

function* compileCodeParameter(
  raw: unknown,
  resolve: Resolve,
  { report, place, facts: { limits } }: ParameterContext,
): Slices<Compiled> {
  if (typeof raw !== 'string') return { constant: true, value: raw }
  if (isTooLong(raw, { max: limits.codeCharsMax, setting: limitSettings.codeCharsMax }, 'code', report, place))
    return { constant: false, get: () => raw }
  const getters = new Map<string, Getter>()
  const compiled = yield* compileCode(raw, (segment) => remember(getters, segment, resolve))
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

/** The block's own outputs do not exist yet when its parameters are read. */
function* compileOwn(raw: unknown, { resolver, place }: ParameterContext): Slices<Compiled> {
  const own = new GivenValues()
  const get = getterOf(yield* compileValue(raw, (segment) => resolver.resolve(segment, { ...place, own })))
  return {
    constant: false,
    get:
      (frame): FillOwn =>
      (outputs) =>
        own.during(outputs, () => get(frame)),
  }
}

function* compileExpressions(raw: unknown, context: ParameterContext): Slices<Compiled> {
  if (!Array.isArray(raw)) return { constant: true, value: raw }
  const entries: { entry: object; evaluate: (frame: Frame) => Evaluate }[] = []
  for (const [index, entry] of (raw as unknown[]).entries()) {
    yield
    const expression = (entry as { expression?: unknown } | null)?.expression
    const path = `${context.place.path}.${index}.expression`
    if (typeof expression === 'string') {
      const evaluate = yield* compileEvaluate(expression, { ...context, place: { ...context.place, path } })
      entries.push({ entry: entry as object, evaluate })
      continue
    }
    context.report.add('error', 'INVALID_PARAMETER', path, context.place.node.block, 'Expression must be text.')
    entries.push({ entry: {}, evaluate: () => () => false })
  }
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
function* compileTools(raw: unknown, context: ParameterContext): Slices<Compiled> {
  if (!Array.isArray(raw)) return { constant: true, value: raw }
  const { resolver, place } = context
  const { node } = place
  const entries: { get: Getter; filler: ((frame: Frame) => FillTool) | undefined }[] = []
  for (const [index, entry] of (raw as unknown[]).entries()) {
    yield
    const { params, ...rest } = (entry ?? {}) as { type?: unknown; params?: unknown }
    const definition = typeof rest.type === 'string' ? node.definition.toolBlocks?.[rest.type] : undefined
    const path = `${place.path}.${index}`
    const get = getterOf(
      yield* compileValue(definition ? rest : entry, (segment) => resolver.resolve(segment, { ...place, path })),
    )
    if (!definition) {
      entries.push({ get, filler: undefined })
      continue
    }
    const args = new GivenValues()
    const block = { ...node.block, type: definition.type, params: isObject(params) ? params : {} }
    const inner = { ...node, definition, block }
    const at = { ...placeOf(inner), path: `${path}.params`, given: [{ name: 'args', values: args }] }
    const fill = yield* compileParameters(inner, context, at)
    const filler = (frame: Frame): FillTool => {
      return (given) => args.during(given, () => fill(frame))
    }
    entries.push({ get, filler })
  }
  return {
    constant: false,
    get: (frame) =>
      entries.map(({ get, filler }) => ({ ...(get(frame) as object), ...(filler && { fill: filler(frame) }) })),
  }
}

/** Compiles one expression to a function of the frame. */
export function* compileEvaluate(
  source: string,
  { resolver, report, place, facts: { limits } }: ExpressionContext,
): Slices<(frame: Frame) => Evaluate> {
  const limit = { max: limits.expressionCharsMax, setting: limitSettings.expressionCharsMax }
  if (isTooLong(source, limit, 'expression', report, place)) return () => () => false
  const getters = new Map<string, Getter>()
  const compiled = yield* compileExpression(source, (segment) =>
    remember(getters, segment, (inner) => resolver.resolve(inner, place)),
  )
  if (!compiled.ok) {
    report.add(
      'error',
      'SYNTAX_ERROR',
      place.path,
      place.node.block,
      source.trim() === '' ? 'Expression is empty.' : `The expression cannot be read: ${compiled.problem.message}.`,
    )
    return () => () => false
  }
  const values = valuesOf(compiled.slots, getters)
  const { native, program } = compiled
  const evaluated = (frame: Frame) => {
    frame.run.filledChars = 0
    return values(frame)
  }
  const inSandbox = async (frame: Frame, signal: () => AbortSignal) => {
    const request = { program, values: evaluated(frame), timeoutMs: expressionTimeoutMs, signal: signal() }
    const outcome = await frame.run.runProgram(request)
    if (outcome.ok) return outcome.result
    const code = outcome.code === 'CODE_ERROR' ? 'EXPRESSION_ERROR' : outcome.code
    throw new BlockError(code, `The expression failed: ${outcome.message}`)
  }
  if (!native) return (frame) => (signal) => inSandbox(frame, signal)
  return (frame) => (signal) => {
    try {
      return native(evaluated(frame), frame.run.expressionWorkMax)
    } catch (error) {
      if (error instanceof NotNative) return inSandbox(frame, signal)
      if (error instanceof BlockError) throw error
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
    return as === 'text' ? (frame: Frame) => filledText(get(frame), frame.run) : (frame: Frame) => get(frame) ?? null
  })
  return (frame) => reads.map((read) => read(frame))
}
