/** The header by which a caller of a stream says which further messages it understands. */
export const agentEventsHeader = 'X-Sim-Stream-Protocol'
export const agentEventsProtocol = 'agent-events-v1'

/** Which messages about agents a stream has, besides `chunk_reset`. */
export type AgentEvents = { thinking: boolean; toolCalls: boolean }

/** Whether a caller understands the messages about agents. The header may list several protocols. */
export function acceptsAgentEvents(headers: Headers): boolean {
  const protocols = headers.get(agentEventsHeader)
  if (protocols === null) return false
  return protocols.split(',').some((each) => each.trim().toLowerCase() === agentEventsProtocol)
}
