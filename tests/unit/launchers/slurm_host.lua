-- Plays slurmctld: loads the script, submits jobs from a table, prints what came of each.
local script, cases, now = arg[1], arg[2], tonumber(arg[3])
local said = {}
slurm = {
  SUCCESS = 0, ERROR = -1,
  log_info = function(format, ...) said[#said + 1] = "log " .. format:format(...) end,
  log_user = function(text) said[#said + 1] = "user " .. text end,
}
dofile(script)
gpucost_internals.set_clock(now)
for _, case in ipairs(dofile(cases)) do
  said = {}
  local code
  if case.record then
    code = slurm_job_modify(case.job, case.record, {}, 1000)
  else
    code = slurm_job_submit(case.job, {}, 1000)
  end
  io.write(code, "\t", case.job.admin_comment or "", "\t", table.concat(said, " | "), "\n")
end
io.write(gpucost_internals.hmac("Jefe", "what do ya want for nothing?"), "\n")
