import { Elysia } from 'elysia'
import type { Door } from '../../access/door.ts'
import type { Services } from '../../services.ts'
import { deploymentRoutesV2 } from './deployments.ts'
import { folderRoutesV2 } from './folders.ts'
import { secretRoutesV2 } from './secrets.ts'
import { transferRoutesV2 } from './transfer.ts'
import { versionRoutesV2 } from './versions.ts'
import { workflowRoutesV2 } from './workflows.ts'
import { workspaceRoutesV2 } from './workspaces.ts'

/** The routes of `/api/v2` for everything but runs. */
export function resourceRoutesV2(services: Services, door: Door) {
  return new Elysia()
    .use(workspaceRoutesV2(services, door))
    .use(secretRoutesV2(services, door))
    .use(folderRoutesV2(services, door))
    .use(workflowRoutesV2(services, door))
    .use(deploymentRoutesV2(services, door))
    .use(versionRoutesV2(services, door))
    .use(transferRoutesV2(services, door))
}
