import { textOf } from '../../sim-document.ts'
import { from, isGiven, list, number, type Read, text } from '../read.ts'
import type { ServiceRules } from '../rule.ts'

const team = from('teamId', 'manualTeamId')
const project = from('projectId', 'manualProjectId')
const issueId = from('issueId')

const belongsTo: Read = (values) => {
  const parts = { team: team(values), project: project(values) }
  const given = Object.entries(parts).filter(([, id]) => isGiven(id))
  return given.length === 0 ? undefined : Object.fromEntries(given.map(([name, id]) => [name, { id: { eq: id } }]))
}

export const linear: ServiceRules = {
  types: ['linear', 'linear_v2'],
  service: 'Linear',
  connector: 'linear',
  credential: { kind: 'header', secrets: ['apiKey'] },
  usual: 'linear_read_issues',
  operations: {
    linear_read_issues: { operation: 'findIssues', params: { filter: belongsTo }, outputs: { issues: 'data' } },
    linear_get_issue: { operation: 'getIssue', params: { id: issueId }, outputs: { issue: 'data' } },
    linear_create_issue: {
      operation: 'createIssue',
      params: {
        teamId: team,
        title: text('title'),
        description: text('description'),
        priority: number('priority'),
        assigneeId: from('assigneeId'),
        stateId: from('stateId'),
        labelIds: list('labelIds'),
      },
      outputs: { issue: 'data' },
    },
    linear_update_issue: {
      operation: 'updateIssue',
      params: {
        id: issueId,
        title: text('title'),
        description: text('description'),
        priority: number('priority'),
        assigneeId: from('assigneeId'),
        stateId: from('stateId'),
      },
      outputs: { issue: 'data' },
    },
    linear_create_comment: {
      operation: 'commentIssue',
      params: { issueId, body: text('body') },
      outputs: { comment: 'data' },
    },
    linear_list_teams: { operation: 'listTeams', outputs: { teams: 'data' } },
    linear_list_workflow_states: { operation: 'listStates', outputs: { states: 'data' } },
  },
}

const issueKey = from('issueKey', 'manualIssueKey')
const jiraProject = from('projectId', 'manualProjectId')

export const jira: ServiceRules = {
  types: ['jira'],
  service: 'Jira',
  connector: 'jira',
  credential: { kind: 'basic' },
  credentialNotes: (values) => {
    const domain = textOf(text('domain')(values))
    const site = domain === '' ? 'the address of your site' : domain.includes('//') ? domain : `https://${domain}`
    return [`The Jira credential consists of your e-mail address, an API token, and the base URL, which is ${site}.`]
  },
  usual: 'read',
  operations: {
    read: {
      operation: 'getIssue',
      params: { issue: issueKey },
      outputs: {
        key: 'data.key',
        issueKey: 'data.key',
        id: 'data.id',
        summary: 'data.fields.summary',
        description: 'data.fields.description',
        status: 'data.fields.status',
        created: 'data.fields.created',
        updated: 'data.fields.updated',
        issue: 'data',
      },
    },
    'read-bulk': {
      operation: 'findIssues',
      params: { jql: (values) => `project = "${textOf(jiraProject(values))}"` },
      outputs: { issues: 'data' },
    },
    search: {
      operation: 'findIssues',
      params: { jql: text('jql'), fields: list('fields'), maxResults: number('maxResults') },
      maxItems: number('maxResults'),
      outputs: { issues: 'data' },
    },
    write: {
      operation: 'createIssue',
      params: {
        project: jiraProject,
        issuetype: text('issueType'),
        summary: text('summary'),
        text: text('description'),
        labels: list('labels'),
        priority: text('priority'),
        assignee: from('assignee'),
        parent: from('parentIssue'),
      },
      outputs: { issueKey: 'data.key', id: 'data.id', self: 'data.self' },
      notes: ['The project is its key, such as SHOP, and not its ID.'],
    },
    update: {
      operation: 'updateIssue',
      params: {
        issue: issueKey,
        summary: text('summary'),
        text: text('description'),
        labels: list('labels'),
        assignee: from('assignee'),
      },
    },
    add_comment: {
      operation: 'commentIssue',
      params: { issue: issueKey, text: text('commentBody', 'body') },
      outputs: { commentId: 'data.id', created: 'data.created' },
    },
    transition: { operation: 'moveIssue', params: { issue: issueKey, transition: text('transitionId') } },
  },
}
