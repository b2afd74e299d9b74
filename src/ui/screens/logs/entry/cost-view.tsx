import { CircleDollarSign } from 'lucide-react'
import { costText, countText } from '../../../parts/amount-text.ts'
import { Empty } from '../../../parts/states.tsx'
import { Cell, Row, Table } from '../../../parts/table.tsx'
import type { LogDetail } from '../log-queries.ts'

/** The cost of a run by model. */
export function CostView({ cost }: Pick<LogDetail, 'cost'>) {
  const models = Object.entries(cost.models).toSorted(([, a], [, b]) => b.total - a.total)
  if (models.length === 0) {
    return (
      <Empty icon={<CircleDollarSign size={22} />} title="No model costs">
        This run called no language model.
      </Empty>
    )
  }
  const number = 'text-right tabular-nums'
  return (
    <div className="p-4">
      <Table
        label="Cost by model"
        numbersFrom={1}
        head={['Model', 'Tokens in', 'Tokens out', 'Cost in', 'Cost out', 'Cost']}
      >
        {models.map(([model, { input, output, total, tokens }]) => (
          <Row key={model}>
            <Cell className="font-medium">{model}</Cell>
            <Cell className={number}>{countText(tokens.prompt)}</Cell>
            <Cell className={number}>{countText(tokens.completion)}</Cell>
            <Cell className={number}>{costText(input)}</Cell>
            <Cell className={number}>{costText(output)}</Cell>
            <Cell className={`${number} font-medium`}>{costText(total)}</Cell>
          </Row>
        ))}
        {models.length > 1 && (
          <Row className="border-t border-line-strong">
            <Cell className="font-medium">Total</Cell>
            <Cell className={number}>{countText(cost.tokens.prompt)}</Cell>
            <Cell className={number}>{countText(cost.tokens.completion)}</Cell>
            <Cell />
            <Cell />
            <Cell className={`${number} font-medium`}>{costText(cost.total)}</Cell>
          </Row>
        )}
      </Table>
    </div>
  )
}
