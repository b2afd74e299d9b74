import { isObject } from '../../../domain/run/input.ts'
import { textOf } from '../../sim-document.ts'
import type { BlockToMap, MappedBlock } from '../mapping.ts'
import { objectsOf } from './agent-tools.ts'
import { modelParametersOf } from './models.ts'

export function mapEvaluator({ values }: BlockToMap): MappedBlock {
  const { params, notes } = modelParametersOf(values)
  const metrics = objectsOf(values.json('metrics')).flatMap(({ name, description, range }) => {
    const called = textOf(name).slice(0, 100)
    if (called === '') return []
    const { min, max } = isObject(range) ? range : {}
    return [
      {
        name: called,
        ...(textOf(description) === '' ? {} : { description: textOf(description) }),
        range: { min: Number(textOf(min) || 0), max: Number(textOf(max) || 10) },
      },
    ]
  })
  const byName = new Map(metrics.map(({ name }) => [name.toLowerCase(), name]))
  const content = values.take('content')
  return {
    type: 'evaluator',
    params: { ...params, content: content ?? '', metrics },
    notes,
    // Sim's outputs of metrics are in lower case.
    output: (path) => {
      const name = byName.get(String(path[0]).toLowerCase())
      return name === undefined ? path : [name, ...path.slice(1)]
    },
  }
}
