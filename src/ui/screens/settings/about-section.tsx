import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { call, type ResponseOf } from '../../api/call.ts'
import { messageOf } from '../../api/message-of.ts'
import { useMe } from '../../api/session.ts'
import { bytesText, countOf } from '../../parts/amount-text.ts'
import { Dot, type Tone } from '../../parts/badge.tsx'
import { docs } from '../../parts/docs-link.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { Facts, Section } from './section.tsx'

type Service = ResponseOf<'GET /api/editor/service'>

/** Version, health and storage of the service, and links for developers. */
export function AboutSection() {
  const { service } = useMe()
  const { data, error } = useQuery({
    queryKey: ['service'],
    queryFn: ({ signal }) => call('GET /api/editor/service', { signal }),
    refetchInterval: 10_000,
    retry: false,
  })
  return (
    <>
      <Section title="About">
        <Facts
          facts={[
            {
              name: 'Millrace',
              value: `version ${service.version}`,
              note: data && `commit ${data.commit}, Bun ${data.bun}`,
            },
            { name: 'Base URL', value: service.baseUrl },
            { name: 'Health', value: <Health service={data} error={error} /> },
            ...(data ? [{ name: 'Started', value: <TimeAgo at={data.startedAt} /> }] : []),
          ]}
        />
      </Section>
      {data && <Storage {...data} />}
      {data && <Limits {...data} />}
      <Section title="For developers">
        <ul className="flex flex-col gap-1.5 text-sm">
          {links.map(({ href, label, note }) => (
            <li key={href}>
              <a href={href} target="_blank" rel="noopener" className="font-medium text-accent-text hover:underline">
                {label}
              </a>
              <span className="ml-2 text-muted">{note}</span>
            </li>
          ))}
        </ul>
      </Section>
    </>
  )
}

function Health({ service, error }: { service: Service | undefined; error: unknown }) {
  if (error) return <State tone="error">{messageOf(error)}</State>
  if (!service) return '…'
  const { isWell, waiting } = service.health
  if (!isWell)
    return <State tone="error">Runs cannot be recorded. Check the output of the service for the cause.</State>
  return (
    <State tone="ok">
      Healthy{waiting > 0 && `, ${countOf(waiting, 'log entry', 'log entries')} waiting to be written`}
    </State>
  )
}

function State({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={`inline-flex items-center gap-2 ${tone === 'error' ? 'text-error-text' : ''}`}>
      <Dot tone={tone} />
      <span>{children}</span>
    </span>
  )
}

function Storage({ storage, retention }: Service) {
  const kept = `${countOf(retention.days, 'day')}, up to ${bytesText(retention.bytesMax)}`
  return (
    <Section title="Storage" note="The oldest log entries are deleted first, together with their files.">
      <Facts
        facts={[
          { name: 'Log retention', value: kept },
          ...(storage
            ? [
                {
                  name: 'Database',
                  value: bytesText(storage.databaseBytes + storage.walBytes),
                  note: storage.freeBytes > 0 && `${bytesText(storage.freeBytes)} unused`,
                },
                ...(storage.diskFreeBytes === null
                  ? []
                  : [{ name: 'Free disk space', value: bytesText(storage.diskFreeBytes) }]),
                { name: 'Run files', value: storage.files === 'disk' ? 'In the data folder' : 'In an S3 bucket' },
                { name: 'Backups', value: <Backups backups={storage.backups} />, note: storage.backups?.address },
              ]
            : []),
        ]}
      />
    </Section>
  )
}

function Backups({ backups }: Pick<NonNullable<Service['storage']>, 'backups'>) {
  if (!backups) return 'Not scheduled'
  const { lastAt, lastBytes, everyMs, failure, pruneFailure, isRunning } = backups
  const last = lastAt ? (
    <>
      The last one began <TimeAgo at={lastAt} />
      {lastBytes !== null && ` (${bytesText(lastBytes)})`}
    </>
  ) : (
    'There is none yet'
  )
  // One may be in progress when the next one is due.
  const isLate = lastAt !== null && Date.now() - Date.parse(lastAt) > 2 * everyMs
  return (
    <State tone={failure !== null || pruneFailure !== null || isLate ? 'error' : lastAt ? 'ok' : 'plain'}>
      {last}
      {failure !== null ? `. The latest attempt failed: ${failure}` : isRunning && '. A backup is in progress.'}
      {pruneFailure !== null && ` Old backups could not be deleted: ${pruneFailure}`}
    </State>
  )
}

function Limits({ limits }: Service) {
  const facts = limits.map(({ setting, description, value }) => ({ name: description, value, note: setting }))
  return (
    <Section title="Limits" note="Workspaces and visitors share the service. The operator sets these limits.">
      <Facts facts={facts} areLong />
    </Section>
  )
}

const links = [
  { href: docs.home, label: 'Documentation', note: 'guides and reference, with search' },
  { href: '/swagger', label: 'API reference', note: 'browse and try every route' },
  { href: '/swagger/json', label: 'OpenAPI document', note: 'for generating clients' },
  { href: '/metrics', label: 'Metrics', note: 'in the Prometheus format' },
] as const
