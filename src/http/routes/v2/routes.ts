import { Elysia } from 'elysia'

/** The API that Sim's command line and its newer clients use: `/api/v2`. A thin layer over the rest of the service. */
export function routesV2() {
  return new Elysia()
}
