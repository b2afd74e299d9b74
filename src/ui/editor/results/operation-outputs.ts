import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { operationOf, type ValueSchema } from '../../../domain/connector/connector.ts'
import { connectorQuery } from '../../shell/connectors-query.ts'
import { textOf } from '../canvas/block-summary.ts'
import type { Block } from '../document/document.ts'
import { useDraft, useEditing } from '../editing.tsx'

/** The schemas of the results of operation blocks, by block id, as their connectors describe them. */
export function useOperationOutputs(): ReadonlyMap<string, ValueSchema> {
  const { workspaceId } = useEditing()
  const blocks = useDraft((state) => state.document.blocks)
  const operations = useMemo(() => Object.values(blocks).filter(({ type }) => type === 'operation'), [blocks])
  const ids = useMemo(() => [...new Set(operations.map(connectorIdOf))].filter(Boolean), [operations])
  const connectors = useQueries({
    queries: ids.map((id) => connectorQuery(workspaceId, id)),
    combine: (results) => results.map(({ data }) => data),
  })
  return useMemo(() => {
    const found = new Map<string, ValueSchema>()
    for (const block of operations) {
      const connector = connectors[ids.indexOf(connectorIdOf(block))]
      const output = connector && operationOf(connector, textOf(block.params?.['operation']))?.output
      if (output) found.set(block.id, output)
    }
    return found
  }, [operations, ids, connectors])
}

function connectorIdOf(block: Block): string {
  return textOf(block.params?.['connector'])
}

/** A value with the members that a schema describes, and no values: its paths are those of a result. */
export function outlineOf({ properties, items }: ValueSchema): unknown {
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, outlineOf(each)]))
  return items ? [outlineOf(items)] : undefined
}
