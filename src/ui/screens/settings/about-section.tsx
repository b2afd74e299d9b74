import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { messageOf } from '../../api/message-of.ts'
import { useMe } from '../../api/session.ts'
import { countOf } from '../../parts/amount-text.ts'
import { Dot } from '../../parts/badge.tsx'
import { Facts, Section } from './section.tsx'

/** What runs here, whether it is well, and where more is to be read. */
export function AboutSection() {
  const { service } = useMe()
  const health = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => call('GET /health/ready', { signal }),
    refetchInterval: 10_000,
    retry: false,
  })
  const waiting = health.data?.writer.waiting ?? 0
  return (
    <>
      <Section title="About">
        <Facts
          facts={[
            { name: 'Millrace', value: `version ${service.version}` },
            { name: 'Address', value: service.baseUrl },
            {
              name: 'Health',
              value: health.isError ? (
                <span className="inline-flex items-center gap-2 text-error-text">
                  <Dot tone="error" /> {messageOf(health.error)}
                </span>
              ) : health.data ? (
                <span className="inline-flex items-center gap-2">
                  <Dot tone="ok" /> All is well
                </span>
              ) : (
                '…'
              ),
              note: waiting > 0 && `${countOf(waiting, 'entry', 'entries')} on the way to the disk`,
            },
          ]}
        />
      </Section>
      <Section title="For programs">
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

const links = [
  { href: '/swagger', label: 'The API', note: 'every route, to read and to try' },
  { href: '/swagger/json', label: 'OpenAPI document', note: 'what clients are generated from' },
  { href: '/metrics', label: 'Metrics', note: 'for Prometheus and what reads its format' },
] as const
