import { deepMap } from '../../domain/edits/deep-map.ts'
import { own } from '../../domain/edits/same-value.ts'
import { mayHoldSegments, normaliseName, type PathStep, segmentsOf } from '../../domain/workflow/reference.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { written } from '../import/translate.ts'

/** Translates the references in a value to the outputs that the blocks have in Sim. */
export function simReferences({ blocks }: WorkflowDocument, isExported: (id: string) => boolean) {
  const byName = new Map(Object.values(blocks).map((block) => [normaliseName(block.name), block]))
  const text = (original: string) => {
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
    }
    return translated
  }
  return (value: unknown): unknown => deepMap(value, text)
}

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
