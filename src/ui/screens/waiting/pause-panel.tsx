import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CalendarClock, ExternalLink, Play, SquareX } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { ApiError } from '../../api/api-error.ts'
import { call } from '../../api/call.ts'
import { messageOf } from '../../api/message-of.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { AnswerForm } from './answer-form.tsx'
import { ExtendDialog } from './extend-dialog.tsx'
import { Fact } from './fact.tsx'
import { accessTexts, kindLabels, type PauseDetail, pauseQuery, pausesKey } from './pause-queries.ts'
import { runAddress } from './run-address.ts'

type Props = { workspaceId: string; mayWrite: boolean; onClose: () => void }

/** One pause: its question, the answers so far, and its actions. */
export function PausePanel({ contextId, ...props }: Props & { contextId: string }) {
  const { data, error, refetch } = useQuery(pauseQuery(props.workspaceId, contextId))
  const hasEnded = error instanceof ApiError && error.status === 409
  return (
    <SidePanel
      label="Pause"
      onClose={props.onClose}
      title={
        <span className="flex min-w-0 items-center gap-2">
          <span className="truncate text-sm font-semibold">{data?.blockName ?? 'Pause'}</span>
          {data && <Badge tone={hasEnded ? 'plain' : 'warn'}>{hasEnded ? 'Ended' : kindLabels[data.kind]}</Badge>}
        </span>
      }
    >
      {hasEnded ? (
        <p role="status" className="p-4 text-sm text-muted">
          {messageOf(error)}
        </p>
      ) : data ? (
        <Opened pause={data} {...props} />
      ) : error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </SidePanel>
  )
}

function Opened({ pause, workspaceId, mayWrite, onClose }: Props & { pause: PauseDetail }) {
  const queries = useQueryClient()
  const toast = useToast()
  const [dialog, setDialog] = useState<'cancel' | 'extend'>()
  const { contextId, kind, message, answers } = pause
  const params = { id: workspaceId, contextId }
  const renew = () => queries.invalidateQueries({ queryKey: pausesKey(workspaceId) })
  const ended = (text: string) => {
    toast.show({ text })
    void renew()
    onClose()
  }
  const resume = useMutation({
    mutationFn: () => call('POST /api/workspaces/:id/pauses/:contextId/resume', { params }),
    onSuccess: () => ended('The run continues.'),
    onError: (error) => {
      toast.fail(error)
      void renew()
    },
  })
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-5 overflow-y-auto p-4">
      {pause.title !== null && <h2 className="text-base font-semibold wrap-anywhere">{pause.title}</h2>}
      {message !== '' && <p className="text-sm wrap-anywhere whitespace-pre-wrap">{message}</p>}
      <Facts pause={pause} workspaceId={workspaceId} />
      {answers.length > 0 && <Answers answers={answers} />}
      {kind === 'approval' && pause.mayAnswer && (
        <section aria-label="Your answer" className="flex flex-col gap-4 border-t border-line pt-4">
          <AnswerForm pause={pause} onAnswered={ended} onLost={renew} />
        </section>
      )}
      {kind === 'approval' && !pause.mayAnswer && (
        <p className="text-sm text-muted">Your account may not answer this approval.</p>
      )}
      {mayWrite && (
        <section aria-label="Actions" className="flex flex-wrap gap-2 border-t border-line pt-4">
          <Button
            icon={<Play size={14} aria-hidden="true" />}
            busy={resume.isPending}
            onClick={() => resume.mutate()}
            title="The run continues without an answer"
          >
            Continue
          </Button>
          <Button icon={<CalendarClock size={14} aria-hidden="true" />} onClick={() => setDialog('extend')}>
            Change end
          </Button>
          <Button look="danger" icon={<SquareX size={14} aria-hidden="true" />} onClick={() => setDialog('cancel')}>
            Cancel run
          </Button>
        </section>
      )}
      {dialog === 'extend' && (
        <ExtendDialog
          workspaceId={workspaceId}
          pause={pause}
          onClose={() => setDialog(undefined)}
          onChanged={() => {
            toast.show({ text: 'The end was changed.' })
            void renew()
          }}
        />
      )}
      <Confirm
        open={dialog === 'cancel'}
        onClose={() => setDialog(undefined)}
        title="Cancel this run?"
        action="Cancel run"
        onConfirm={async () => {
          await call('POST /api/workspaces/:id/pauses/:contextId/cancel', { params })
          ended('The run was cancelled.')
        }}
      >
        The whole run ends as cancelled, with everything that it waits for.
      </Confirm>
    </div>
  )
}

function Facts({ pause, workspaceId }: { pause: PauseDetail; workspaceId: string }) {
  const { workflowId, workflowName, executionId, since, until, access, accounts, required, url, callbackUrl } = pause
  return (
    <dl className="flex flex-col gap-2 text-sm">
      <Fact label="Workflow">
        <Link href={`/workflows/${workflowId}`} className="truncate text-accent-text hover:underline">
          {workflowName ?? 'Deleted workflow'}
        </Link>
      </Fact>
      <Fact label="Waiting since">
        <TimeAgo at={since} />
      </Fact>
      <Fact label="Ends">{until === null ? 'Never by itself' : <TimeAgo at={until} />}</Fact>
      {access !== null && (
        <Fact label="May answer">
          <span className="wrap-anywhere">{access === 'accounts' ? accounts.join(', ') : accessTexts[access]}</span>
        </Fact>
      )}
      {required > 1 && (
        <Fact label="Approvals">
          {pause.answers.length} of {required}
        </Fact>
      )}
      <Fact label="Execution ID">
        <code className="min-w-0 truncate font-mono text-xs">{executionId}</code>
        <CopyButton text={executionId} label="Copy execution ID" />
      </Fact>
      <Fact label="Run">
        <Link href={runAddress(workspaceId, executionId, 'paused')} className="text-accent-text hover:underline">
          Show its progress
        </Link>
      </Fact>
      {url !== null && (
        <Fact label="Page">
          <a
            href={new URL(url).pathname}
            target="_blank"
            rel="noopener"
            className="inline-flex items-center gap-1 text-accent-text hover:underline"
          >
            Open
            <ExternalLink size={13} aria-hidden="true" />
          </a>
          <CopyButton text={url} label="Copy link to the page" />
        </Fact>
      )}
      {pause.kind === 'call' && callbackUrl !== null && (
        <Fact label="Callback URL">
          <code className="min-w-0 truncate font-mono text-xs">{callbackUrl}</code>
          <CopyButton text={callbackUrl} label="Copy callback URL" />
        </Fact>
      )}
    </dl>
  )
}

function Answers({ answers }: Pick<PauseDetail, 'answers'>) {
  return (
    <section aria-label="Answers so far">
      <h3 className="mb-2 text-xs font-medium text-muted">Answers so far</h3>
      <ol className="flex flex-col gap-2">
        {answers.map(({ approved, by, at, fields }) => (
          <li key={`${by} ${at}`} className="rounded-lg border border-line bg-surface p-3 text-sm">
            <p className="flex flex-wrap items-center gap-2">
              <Badge tone={approved ? 'ok' : 'error'}>{approved ? 'Approved' : 'Rejected'}</Badge>
              <span className="wrap-anywhere">{by ?? 'Someone with the link'}</span>
              <span className="text-xs text-muted">
                <TimeAgo at={at} />
              </span>
            </p>
            {typeof fields === 'object' && fields !== null && Object.keys(fields).length > 0 && (
              <div className="mt-2">
                <JsonView label="Fields" value={fields} />
              </div>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
