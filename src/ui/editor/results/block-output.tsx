import { useState } from 'react'
import type { ValueSchema } from '../../../domain/connector/connector.ts'
import { isRecord } from '../../../domain/edits/same-value.ts'
import { Button } from '../../parts/button.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { useOperationOutputs } from './operation-outputs.ts'
import { resultRows } from './result-rows.ts'
import { ResultTable } from './result-table.tsx'

/** The output of a block. The result of an operation is a table, if its connector describes it. */
export function BlockOutput({ blockId, label, value }: { blockId: string; label: string; value: unknown }) {
  const schema = useOperationOutputs().get(blockId)
  const props = { label, value }
  return schema ? <OperationOutput schema={schema} {...props} /> : <JsonView {...props} />
}

function OperationOutput({ schema, label, value }: { schema: ValueSchema; label: string; value: unknown }) {
  const [isJson, setIsJson] = useState(false)
  const result = isRecord(value) ? resultRows(schema, value['data']) : undefined
  if (!result) return <JsonView label={label} value={value} />
  const toggle = (
    <Button size="small" look="quiet" onClick={() => setIsJson(!isJson)}>
      {isJson ? 'Show as table' : 'Show as JSON'}
    </Button>
  )
  return isJson ? (
    <JsonView label={label} value={value} aside={toggle} />
  ) : (
    <ResultTable label={label} result={result} aside={toggle} />
  )
}
