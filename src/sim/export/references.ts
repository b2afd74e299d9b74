import { own } from '../../domain/edits/same-value.ts'
import { setMember } from '../../domain/run/input.ts'
import type { Slices } from '../../domain/slices.ts'
import { mayHoldSegments, normaliseName, type PathStep, segmentsOf } from '../../domain/workflow/reference.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { written } from '../import/translate.ts'

/** Translates a value. In slices, because a text of megabytes may have a hundred thousand references. */
export type Translate = (value: unknown) => Slices<unknown>

/** Translates the references in values to the paths that the outputs have in Sim. */
export function simReferences({ blocks }: WorkflowDocument, isExported: (id: string) => boolean): Translate {
  const byName = new Map(Object.values(blocks).map((block) => [normaliseName(block.name), block]))
  let steps = 0
  function* step(): Slices<void> {
    steps += 1
    if (steps % stepsInSlice === 0) yield
  }
  function* text(original: string): Slices<string> {
    if (!mayHoldSegments(original)) return original
    let translated = ''
    for (const segment of segmentsOf(original)) {
      if (segment.kind === 'text') translated += segment.text
      else if (segment.kind === 'environment') translated += segment.source
      else {
        const block = byName.get(segment.name)
        const path = block && isExported(block.id) ? simPath(block, segment.path) : segment.path
        translated += path === segment.path ? segment.source : written(segment.name, path)
      }
      yield* step()
    }
    return translated
  }
  function* translate(value: unknown): Slices<unknown> {
    if (typeof value === 'string') return yield* text(value)
    if (typeof value !== 'object' || value === null) return value
    yield* step()
    if (Array.isArray(value)) {
      const items: unknown[] = []
      for (const item of value) items.push(yield* translate(item))
      return items
    }
    const members: Record<string, unknown> = {}
    for (const [name, member] of Object.entries(value)) setMember(members, name, yield* translate(member))
    return members
  }
  return translate
}

const stepsInSlice = 1_000

const renamed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  workflow: { output: 'result' },
  wait: { waitedMs: 'waitDuration' },
  condition: { result: 'conditionResult', branch: 'selectedOption' },
  router: { route: 'selectedRoute' },
  approval: { callbackUrl: 'resumeEndpoint', at: 'submittedAt', fields: 'submission' },
}

type Exported = { type: string; origin?: { type: string } | undefined; params?: Record<string, unknown> | undefined }

/** The same path if the output has the same name in Sim. */
function simPath({ type, origin, params }: Exported, path: readonly PathStep[]): readonly PathStep[] {
  const [first, ...rest] = path
  const name = own(own(renamed, type), String(first))
  if (name !== undefined) return [name, ...rest]
  if (rest.length === 0) return path
  const isStart = type === 'api_trigger' && (origin?.type === 'start_trigger' || origin?.type === 'starter')
  if (isStart && first === 'input') return rest
  if (type === 'webhook_trigger' && first === 'body') return rest
  if (type === 'agent' && first === 'content' && params?.['responseFormat'] !== undefined) return rest
  return path
}
