-- Settings of job_submit.lua; copy to /etc/slurm/gpucost_slurm_config.lua.
return {
  -- Kept by `gpucost grants cache --out /run/gpucost/grants`, with its key beside it.
  cache = "/run/gpucost/grants",
  -- An older cache is as good as none: the sidecar writes every 30 seconds.
  max_age_s = 300,
  -- Without a cache: "over-limit" refuses what needs a grant, "closed" refuses that and
  -- what brought one, "open" refuses nothing.
  when_down = "over-limit",
  -- What each GPU partition's nodes are; others are not judged.
  partitions = {
    gpu = {
      instance_type = "p5.48xlarge", purchase = "on-demand", region = "us-east-1",
      -- Node hours that need no approval: your policy's `over` by the price of a node.
      free_node_hours = 180,
    },
  },
}
