import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type ResponseOf } from '../../api/call.ts'
import { countOf } from '../../parts/amount-text.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { Section } from './section.tsx'

type Process = ResponseOf<'GET /api/editor/processes'>['data'][number]

const queryKey = ['processes']

/** The processes that serve the installation. */
export function ProcessesSection() {
  const [drained, setDrained] = useState<Process>()
  const queries = useQueryClient()
  const toast = useToast()
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => call('GET /api/editor/processes', { signal }),
    refetchInterval: 3_000,
    retry: false,
  })
  const others = data?.data.filter(({ gone, draining, id }) => !gone && !draining && id !== drained?.id) ?? []
  return (
    <Section
      title="Processes"
      note={
        data && !data.shared
          ? 'One process serves this installation, because its database is SQLite.'
          : 'All processes that serve this installation on PostgreSQL. Any of them responds to every request.'
      }
    >
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={3} />
      ) : data.shared ? (
        <Table
          label="Processes"
          wideOnly={[1, 3, 4, 5]}
          head={['Host', 'Version', 'State', 'Holds', 'Started', 'Last sign of life', '']}
        >
          {data.data.map((row) => (
            <ProcessLine key={row.id} row={row} onDrain={() => setDrained(row)} />
          ))}
        </Table>
      ) : null}
      <Confirm
        open={drained !== undefined}
        onClose={() => setDrained(undefined)}
        title={`Drain process ${drained?.pid ?? ''} on ${drained?.host ?? ''}?`}
        action="Drain"
        onConfirm={async () => {
          await call('POST /api/editor/processes/:id/drain', { params: { id: drained?.id ?? '' } })
          await queries.invalidateQueries({ queryKey })
          toast.show({ text: 'The process takes no more work. Stop it when it holds nothing any more.' })
        }}
      >
        It finishes its runs, and others take over the rest of its work. It takes work again only after a restart.
        {others.length === 0 && ' No other process takes work: what is not finished will wait until one starts.'}
      </Confirm>
    </Section>
  )
}

function ProcessLine({ row, onDrain }: { row: Process; onDrain: () => void }) {
  const { host, pid, url, version, startedAt, heartbeatAt, gone, draining } = row
  return (
    <Row>
      <Cell className="max-w-60 py-1.5">
        <span className="block truncate font-medium">{host}</span>
        <span className="block truncate text-xs text-muted">
          process {pid} at {url.replace(/^https?:\/\//, '')}
        </span>
        <span className="block text-xs text-muted md:hidden">
          holds {holdsText(row).toLowerCase()}, last sign of life <TimeAgo at={heartbeatAt} />
        </span>
      </Cell>
      <Cell className="whitespace-nowrap text-muted max-md:hidden">{version}</Cell>
      <Cell>
        <State row={row} />
      </Cell>
      <Cell className="text-muted max-md:hidden">{holdsText(row)}</Cell>
      <Cell className="whitespace-nowrap text-muted max-md:hidden">
        <TimeAgo at={startedAt} />
      </Cell>
      <Cell className="whitespace-nowrap text-muted max-md:hidden">
        <TimeAgo at={heartbeatAt} />
      </Cell>
      <Cell className="text-right whitespace-nowrap">
        {!gone && !draining && (
          <Button size="small" look="danger" aria-label={`Drain process ${pid} on ${host}`} onClick={onDrain}>
            Drain
          </Button>
        )}
      </Cell>
    </Row>
  )
}

function State({ row: { gone, leader, draining } }: { row: Process }) {
  return (
    <span className="inline-flex flex-wrap gap-1 py-1">
      {gone ? <Badge tone="error">Gone</Badge> : draining ? <Badge tone="warn">Draining</Badge> : null}
      {!gone && !draining && <Badge tone="ok">Up</Badge>}
      {leader && <Badge tone="accent">Leader</Badge>}
    </span>
  )
}

function holdsText({ holds }: Process): string {
  const parts = [
    ...(holds.runs > 0 ? [countOf(holds.runs, 'run')] : []),
    ...(holds.jobs > 0 ? [countOf(holds.jobs, 'asynchronous run')] : []),
    ...(holds.deliveries > 0 ? [countOf(holds.deliveries, 'delivery', 'deliveries')] : []),
    ...(holds.schedules > 0 ? [countOf(holds.schedules, 'schedule')] : []),
  ]
  return parts.length === 0 ? 'Nothing' : parts.join(', ')
}
