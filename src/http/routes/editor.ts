import { Elysia } from 'elysia'
import type { Door } from '../access/door.ts'
import type { Services } from '../services.ts'
import { applicationRoutes } from './editor/applications.ts'
import { blockRoutes } from './editor/blocks.ts'
import { choiceRoutes } from './editor/choices.ts'
import { galleryRoutes } from './editor/gallery.ts'
import { keyRoutes } from './editor/keys.ts'
import { listenRoutes } from './editor/listen.ts'
import { editorLogRoutes } from './editor/logs.ts'
import { mcpToolRoutes } from './editor/mcp-tools.ts'
import { meRoutes } from './editor/me.ts'
import { modelRoutes } from './editor/models.ts'
import { overviewRoutes } from './editor/overview.ts'
import { presenceRoutes } from './editor/presence.ts'
import { processRoutes } from './editor/processes.ts'
import { runRoutes } from './editor/runs.ts'
import { serviceRoutes } from './editor/service.ts'
import { tryPollRoutes } from './editor/try-poll.ts'
import { usageRoutes } from './editor/usage.ts'
import { webhookRoutes } from './editor/webhooks.ts'
import { editorWorkflowRoutes } from './editor/workflows.ts'
import { workspaceRoutes } from './editor/workspaces.ts'

/**
 * The routes of the dashboard beyond the public API. Every route requires a session (`door.requireSession`), accepts no
 * key, and counts in no rate window.
 */
export function editorRoutes(services: Services, door: Door) {
  return new Elysia({ prefix: '/api/editor' })
    .use(meRoutes(services, door))
    .use(keyRoutes(services, door))
    .use(applicationRoutes(services, door))
    .use(workspaceRoutes(services, door))
    .use(overviewRoutes(services, door))
    .use(editorWorkflowRoutes(services, door))
    .use(editorLogRoutes(services, door))
    .use(blockRoutes(door))
    .use(galleryRoutes(door))
    .use(choiceRoutes(services, door))
    .use(mcpToolRoutes(services, door))
    .use(modelRoutes(services, door))
    .use(usageRoutes(services, door))
    .use(serviceRoutes(services, door))
    .use(processRoutes(services, door))
    .use(webhookRoutes(services, door))
    .use(runRoutes(services, door))
    .use(presenceRoutes(services, door))
    .use(listenRoutes(services, door))
    .use(tryPollRoutes(services, door))
}

export type EditorApi = ReturnType<typeof editorRoutes>
