import type { PathStep } from '../../domain/workflow/reference.ts'
import type { GraphNode } from './graph.ts'

/** A sentence about a reference to an output that its block never has; undefined for all others. */
export function unknownOutput(source: string, path: readonly PathStep[], node: GraphNode): string | undefined {
  const [output] = path
  if (typeof output !== 'string') return undefined
  const { block, definition } = node
  const declared = definition.declaredOutputs?.(block.params ?? {}) ?? []
  const outputs = [...declared, ...definition.outputs]
  if (outputs.length === 0 || outputs.includes(output) || (definition.mayFail && output === 'error')) return undefined
  if (definition.starts && definition.declaredOutputs) {
    return (
      `${source} is always null: the trigger "${block.name}" declares no field "${output}". Add it to the input format ` +
      `of the trigger, or read <${node.name}.input.${output}>.`
    )
  }
  return `${source} is always null: "${block.name}" has no output "${output}". It has ${listed(outputs)}.`
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesMax)
  if (names.length > namesMax) return `${shown.join(', ')} and ${names.length - namesMax} more`
  return [shown.slice(0, -1).join(', '), shown.at(-1)].filter(Boolean).join(' and ')
}

const namesMax = 8
