import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { Check } from '../../parts/check.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Field, SelectField, TextField } from '../../parts/field.tsx'
import { MultiPick } from '../../parts/multi-pick.tsx'
import { workflowNamesQuery } from '../logs/log-queries.ts'
import { type AlertForm, bodyOf, formOf, newForm, otherEvents, type Subject, spans, subjects } from './alert-form.ts'
import { type Alert, alertsQuery } from './alert-queries.ts'

/** Creates an alert, or changes one. `workflow`: the one that a new alert watches; absent for all. */
export function AlertDialog({
  workspaceId,
  alert,
  workflow,
  others,
  onClose,
}: {
  workspaceId: string
  alert?: Alert | undefined
  workflow?: { id: string; name: string } | undefined
  others: readonly Alert[]
  onClose: () => void
}) {
  const queries = useQueryClient()
  const names = useQuery(workflowNamesQuery(workspaceId))
  const [form, setForm] = useState(() => (alert ? formOf(alert) : newForm(workflow, others)))
  const change = (more: Partial<AlertForm>) => setForm((before) => ({ ...before, ...more }))
  const save = async () => {
    const body = bodyOf(form)
    if (alert)
      await call('PATCH /api/workspaces/:id/alerts/:alertId', { params: { id: workspaceId, alertId: alert.id }, body })
    else await call('POST /api/workspaces/:id/alerts', { params: { id: workspaceId }, body })
    onClose()
    await queries.invalidateQueries(alertsQuery(workspaceId))
  }
  const choices = (names.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))
  return (
    <FormDialog
      title={alert ? `Change ${alert.name}` : 'New alert'}
      submit={alert ? 'Save' : 'Create alert'}
      onClose={onClose}
      onSubmit={save}
    >
      <SelectField
        label="Tell me when"
        value={form.subject}
        options={Object.entries(subjects).map(([value, label]) => ({ value: value as Subject, label }))}
        onChange={(subject) => change({ subject })}
      />
      <Details form={form} change={change} />
      <Field label="In these workflows">
        {() => (
          <div>
            <MultiPick
              label="All workflows"
              choices={choices}
              chosen={form.workflows}
              onChange={(workflows) => change({ workflows })}
            />
          </div>
        )}
      </Field>
      <SelectField
        label="Send"
        value={form.channel}
        options={[
          { value: 'webhook', label: 'A webhook, such as that of Slack' },
          { value: 'email', label: 'An e-mail' },
        ]}
        onChange={(channel) => change({ channel })}
      />
      {form.channel === 'webhook' ? (
        <>
          <TextField
            label="URL"
            note="An incoming webhook of Slack, Mattermost or Google Chat works as it is. {{NAME}} reads a variable."
            required
            maxLength={2000}
            className="font-mono"
            value={form.url}
            onChange={(url) => change({ url })}
          />
          <TextField
            label="Secret"
            note={alert ? 'Empty: the stored secret stays.' : 'Messages are signed with it.'}
            optional
            maxLength={1000}
            className="font-mono"
            value={form.secret}
            onChange={(secret) => change({ secret })}
          />
        </>
      ) : (
        <TextField
          label="To"
          note="Addresses, separated by commas."
          required
          value={form.to}
          onChange={(to) => change({ to })}
        />
      )}
      <div className="grid grid-cols-2 gap-3 max-md:grid-cols-1">
        <TextField label="Name" required maxLength={200} value={form.name} onChange={(name) => change({ name })} />
        <SelectField
          label="Then stay quiet for"
          value={form.quietMs}
          options={withValue(spans, form.quietMs)}
          onChange={(quietMs) => change({ quietMs })}
        />
      </div>
    </FormDialog>
  )
}

type DetailsProps = { form: AlertForm; change: (more: Partial<AlertForm>) => void }

/** The numbers of a rule, or the events. */
function Details({ form, change }: DetailsProps) {
  const number = (name: 'count' | 'percent' | 'minRuns' | 'percentile' | 'aboveS' | 'usd', label: string) => (
    <TextField
      label={label}
      type="number"
      min={0}
      step="any"
      required
      value={form[name]}
      onChange={(text) => change({ [name]: text })}
    />
  )
  const span = (
    <SelectField
      label="Within"
      value={form.windowMs}
      options={withValue(spans, form.windowMs)}
      onChange={(windowMs) => change({ windowMs })}
    />
  )
  const row = (...fields: React.ReactNode[]) => (
    <div className="grid grid-cols-3 gap-3 max-md:grid-cols-1">{...fields}</div>
  )
  switch (form.subject) {
    case 'consecutive_failures':
      return row(number('count', 'Failures in a row'))
    case 'failure_rate':
      return row(number('percent', 'Failed runs (%)'), number('minRuns', 'Minimum number of runs'), span)
    case 'latency':
      return row(number('percentile', 'Percentile'), number('aboveS', 'Above (seconds)'), span)
    case 'cost':
      return row(number('usd', 'At least (USD)'), span)
    case 'no_activity':
      return row(span)
    case 'other':
      return (
        <fieldset className="flex flex-col gap-1.5">
          <legend className="mb-1 text-xs font-medium">Events</legend>
          {Object.entries(otherEvents).map(([event, label]) => (
            <Check
              key={event}
              label={label}
              checked={form.events.includes(event as keyof typeof otherEvents)}
              onChange={(isChosen) => {
                const others = form.events.filter((each) => each !== event)
                change({ events: isChosen ? [...others, event as keyof typeof otherEvents] : others })
              }}
            />
          ))}
        </fieldset>
      )
    default:
      return null
  }
}

function withValue(options: readonly { value: string; label: string }[], value: string) {
  if (options.some((option) => option.value === value)) return options
  return [...options, { value, label: `${Number(value) / 60_000} minutes` }]
}
