import { Elysia } from 'elysia'
import type { Door } from '../../access/door.ts'
import type { Services } from '../../services.ts'
import { executeRoutes } from '../execute.ts'
import { versionTwo } from './execute.ts'
import { logRoutesV2 } from './logs.ts'
import { resourceRoutesV2 } from './resources.ts'
import { runRoutesV2 } from './runs.ts'

/** The API that Sim's command line and its newer clients use: `/api/v2`. A thin layer over the rest of the service. */
export function routesV2(services: Services, door: Door) {
  return new Elysia()
    .use(executeRoutes(services.runs.execute, door, versionTwo(services.settings.baseUrl)))
    .use(runRoutesV2(services, door))
    .use(resourceRoutesV2(services, door))
    .use(logRoutesV2(services, door))
}
