import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { call } from '../../api/call.ts'
import { Check } from '../../parts/check.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Segments } from '../../parts/segments.tsx'
import { ShownOnceDialog } from '../../parts/shown-once.tsx'
import { Switch } from '../../parts/switch.tsx'
import { triggers } from '../logs/log-filter.ts'
import { triggerLabels } from '../logs/log-texts.tsx'
import { newSecret } from './new-secret.ts'
import { type Webhook, webhooksQuery } from './webhook-queries.ts'

type Filters = 'levelFilter' | 'triggerFilter'
type Saved = Omit<Webhook, 'id' | 'secret' | 'previousSecretUntil' | 'createdAt' | 'updatedAt'>
/** An undefined filter admits every run. */
type Options = Omit<Saved, Filters> & { [Name in Filters]: Saved[Name] | undefined }

const events = [
  { event: 'completed', label: 'Ended', note: 'A run has ended' },
  { event: 'paused', label: 'Paused', note: 'A run waits for a time or an answer' },
  { event: 'resumed', label: 'Resumed', note: 'A paused run continues' },
] as const satisfies readonly { event: Webhook['events'][number]; label: string; note: string }[]

const includes = [
  { name: 'includeFinalOutput', label: 'Final output', note: 'The output of the run' },
  { name: 'includeTraceSpans', label: 'Trace', note: 'What each block did; can be large' },
  { name: 'includeRateLimits', label: 'Rate limits', note: "The owner's remaining rate limits" },
  { name: 'includeUsageData', label: 'Usage', note: "The owner's usage this month" },
] as const satisfies readonly { name: keyof Options; label: string; note: string }[]

/** Creates or edits a webhook subscription. A generated secret is shown once. */
export function WebhookForm({
  workflowId,
  webhook,
  onClose,
}: {
  workflowId: string
  webhook: Webhook | undefined
  onClose: () => void
}) {
  const [options, setOptions] = useState<Options>(() => optionsOf(webhook))
  const [isSigned, setIsSigned] = useState(true)
  const [secret] = useState(newSecret)
  const [isCreated, setIsCreated] = useState(false)
  const queries = useQueryClient()
  const set = (change: Partial<Options>) => setOptions((before) => ({ ...before, ...change }))
  const save = async () => {
    const { levelFilter, triggerFilter, ...rest } = options
    const url = options.url.trim()
    if (webhook) {
      // Null removes a filter; omitting it would keep it.
      const filters = { levelFilter: levelFilter ?? null, triggerFilter: triggerFilter ?? null }
      const body = { ...rest, ...filters, url } as Partial<Saved>
      const params = { id: workflowId, webhookId: webhook.id }
      await call('PATCH /api/editor/workflows/:id/webhooks/:webhookId', { params, body })
    } else {
      const filters = { ...(levelFilter && { levelFilter }), ...(triggerFilter && { triggerFilter }) }
      const body = { ...rest, ...filters, url, ...(isSigned && { secret }) }
      await call('POST /api/editor/workflows/:id/webhooks', { params: { id: workflowId }, body })
      setIsCreated(isSigned)
    }
    await queries.invalidateQueries(webhooksQuery(workflowId))
    if (webhook || !isSigned) onClose()
  }
  if (isCreated) return <SecretShown secret={secret} onClose={onClose} />
  return (
    <FormDialog
      title={webhook ? 'Edit webhook subscription' : 'New webhook subscription'}
      description={!webhook && 'Sends a POST request with JSON to your URL when a run ends, or pauses and continues.'}
      submit={webhook ? 'Save' : 'Create subscription'}
      onClose={onClose}
      onSubmit={save}
    >
      <TextField
        label="URL"
        note="Can contain environment variables, such as {{NAME}}."
        required
        autoFocus={!webhook}
        placeholder="https://example.com/hooks/millrace"
        maxLength={2000}
        value={options.url}
        onChange={(text) => set({ url: text })}
      />
      <Group label="Events">
        <div className="grid gap-1.5 sm:grid-cols-3">
          {events.map(({ event, label, note }) => (
            <Check
              key={event}
              label={label}
              note={note}
              checked={options.events.includes(event)}
              onChange={(checked) => set({ events: withEvent(options.events, event, checked) })}
            />
          ))}
        </div>
      </Group>
      <Group label="Runs to deliver">
        <Segments
          label="Result"
          value={options.levelFilter?.length === 1 ? options.levelFilter[0]! : 'all'}
          onChange={(level) => set({ levelFilter: level === 'all' ? undefined : [level] })}
          options={[
            { value: 'all', label: 'All' },
            { value: 'error', label: 'Failed' },
            { value: 'info', label: 'Succeeded' },
          ]}
        />
        <div className="flex flex-wrap gap-x-4 gap-y-1.5">
          {triggers.map((trigger) => (
            <Check
              key={trigger}
              label={triggerLabels[trigger]}
              checked={options.triggerFilter?.includes(trigger) ?? true}
              onChange={(checked) => set({ triggerFilter: withTrigger(options.triggerFilter, trigger, checked) })}
            />
          ))}
        </div>
      </Group>
      <Group label="Additional data to send">
        <div className="grid gap-1.5 sm:grid-cols-2">
          {includes.map(({ name, label, note }) => (
            <Check
              key={name}
              label={label}
              note={note}
              checked={options[name]}
              onChange={(checked) => set({ [name]: checked })}
            />
          ))}
        </div>
      </Group>
      <Group label="Options">
        {!webhook && <Switch label="Sign deliveries with a new secret" checked={isSigned} onChange={setIsSigned} />}
        <Switch
          label="Also retry after connection errors and timeouts"
          checked={options.retryOnNetworkError}
          onChange={(retryOnNetworkError) => set({ retryOnNetworkError })}
        />
        <Switch label="Active" checked={options.active} onChange={(active) => set({ active })} />
      </Group>
    </FormDialog>
  )
}

/** Shows a new secret once. */
export function SecretShown({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <ShownOnceDialog
      title="Copy the secret now"
      description="The receiver verifies svc-signature with it. It is shown only once."
      label="Secret"
      text={secret}
      onClose={onClose}
    />
  )
}

function Group({ label, children }: { label: string; children: ReactNode }) {
  return (
    <fieldset className="flex flex-col items-start gap-2">
      <legend className="pb-1.5 text-xs font-medium">{label}</legend>
      {children}
    </fieldset>
  )
}

/** At least one event must stay selected. */
function withEvent(selected: Options['events'], event: Options['events'][number], isOn: boolean): Options['events'] {
  const next = events.map((each) => each.event).filter((each) => (each === event ? isOn : selected.includes(each)))
  return next.length === 0 ? selected : next
}

/** All triggers together mean no filter. At least one trigger must stay selected. */
function withTrigger(
  filter: Options['triggerFilter'],
  trigger: (typeof triggers)[number],
  isOn: boolean,
): Options['triggerFilter'] {
  const before = filter ?? [...triggers]
  const next = triggers.filter((each) => (each === trigger ? isOn : before.includes(each)))
  if (next.length === 0) return filter
  return next.length === triggers.length ? undefined : next
}

function optionsOf(webhook: Webhook | undefined): Options {
  return {
    url: webhook?.url ?? '',
    events: webhook?.events ?? ['completed'],
    includeFinalOutput: webhook?.includeFinalOutput ?? false,
    includeTraceSpans: webhook?.includeTraceSpans ?? false,
    includeRateLimits: webhook?.includeRateLimits ?? false,
    includeUsageData: webhook?.includeUsageData ?? false,
    levelFilter: webhook?.levelFilter,
    triggerFilter: webhook?.triggerFilter,
    active: webhook?.active ?? true,
    retryOnNetworkError: webhook?.retryOnNetworkError ?? false,
  }
}
