import { isObject } from '../../../domain/run/input.ts'
import { textOf } from '../../sim-document.ts'
import type { BlockToMap, MappedBlock } from '../mapping.ts'
import { objectsOf } from './agent-tools.ts'
import { modelParametersOf } from './models.ts'

export function mapEvaluator({ values }: BlockToMap): MappedBlock {
  const { params, notes } = modelParametersOf(values)
  const ids: Record<string, unknown> = {}
  const metrics = objectsOf(values.json('metrics')).flatMap(({ id, name, description, range }) => {
    const called = textOf(name).slice(0, 100)
    if (called === '') return []
    if (textOf(id) !== '') ids[called] = id
    const { min, max } = isObject(range) ? range : {}
    return [
      {
        name: called,
        ...(textOf(description) === '' ? {} : { description: textOf(description) }),
        range: { min: Number(textOf(min) || 0), max: Number(textOf(max) || 10) },
      },
    ]
  })
  const content = values.take('content')
  return {
    type: 'evaluator',
    params: { ...params, content: content ?? '', metrics },
    notes,
    // Sim's outputs of metrics are in lower case.
    output: (path) => {
      const name = String(path[0]).toLowerCase()
      const metric = metrics.find((each) => each.name.toLowerCase() === name)
      return metric ? [metric.name, ...path.slice(1)] : path
    },
  }
}
