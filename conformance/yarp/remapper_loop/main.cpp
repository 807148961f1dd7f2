// Drives the 23 axes of the biped by YARP's own remotecontrolboardremapper.
//
//   remapper_loop counted CARRIER PERIODS    lock-step: setPositions, then a step that counts the commands
//   remapper_loop acknowledged PERIODS       lock-step: each command over tcp, whose acknowledgement is waited for
//   remapper_loop clock PERIOD SECONDS       a controller of its own period on the simulation's clock (YARP_CLOCK)
//
// The first two print a line of encoders for each period, with all digits; the third one line of figures.
// The headers of YARP 3.5 need these first.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <yarp/dev/all.h>
#include <yarp/os/all.h>

#include "../control_board_client/versions.h"
#include "../stock_plugins.h"

using namespace yarp::dev;
using namespace yarp::os;

static const std::vector<std::pair<std::string, std::vector<std::string>>> PARTS = {
    {"torso", {"torso_yaw", "torso_roll", "torso_pitch"}},
    {"left_arm", {"l_shoulder_pitch", "l_shoulder_roll", "l_shoulder_yaw", "l_elbow"}},
    {"right_arm", {"r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow"}},
    {"left_leg", {"l_hip_yaw", "l_hip_roll", "l_hip_pitch", "l_knee", "l_ankle_pitch", "l_ankle_roll"}},
    {"right_leg", {"r_hip_yaw", "r_hip_roll", "r_hip_pitch", "r_knee", "r_ankle_pitch", "r_ankle_roll"}},
};

static double reference(double time, size_t axis) { return 3.0 * std::sin(4.0 * time + 0.3 * double(axis)); }

static Bottle ask(RpcClient& port, const std::string& text)
{
    Bottle request(text), reply;
    if (!port.write(request, reply)) { std::fprintf(stderr, "no reply to %s\n", text.c_str()); std::exit(2); }
    return reply;
}

static void open(RpcClient& port, const std::string& own, const std::string& target)
{
    if (!port.open(own) || !Network::connect(own, target)) { std::fprintf(stderr, "no %s\n", target.c_str()); std::exit(2); }
}

static bool remap(PolyDriver& driver, const std::string& carrier)
{
    Property options;
    options.put("device", "remotecontrolboardremapper");
    options.put("localPortPrefix", "/loop");
    Bottle axes, boards;
    Bottle &names = axes.addList(), &remotes = boards.addList();
    for (auto& part : PARTS) {
        remotes.addString("/biped/" + part.first);
        for (auto& axis : part.second) names.addString(axis);
    }
    options.put("axesNames", axes.get(0));
    options.put("remoteControlBoards", boards.get(0));
    options.addGroup("REMOTE_CONTROLBOARD_OPTIONS").put("carrier", carrier);
    return driver.open(options);
}

// The encoders of each part, asked for by a call: a call is answered between two steps, so it sees the newest state.
static void print_encoders(std::map<std::string, std::unique_ptr<RpcClient>>& calls)
{
    for (auto& part : PARTS) {
        Bottle reply = ask(*calls[part.first], "[get] [encs]");
        Bottle* values = reply.get(2).asList();
        for (size_t k = 0; values && k < values->size(); ++k) std::printf("%.17g ", values->get(k).asFloat64());
    }
    std::printf("\n");
}

static int lockstep(bool counted, const std::string& carrier, int periods)
{
    PolyDriver driver;
    IPositionDirect* positions = nullptr;
    RpcClient clock;
    open(clock, "/loop/steps", "/clock/rpc");
    std::map<std::string, std::unique_ptr<RpcClient>> calls;
    std::map<std::string, std::unique_ptr<Port>> streams;
    for (auto& part : PARTS) {
        calls[part.first].reset(new RpcClient);
        open(*calls[part.first], "/loop/ask/" + part.first, "/biped/" + part.first + "/rpc:i");
        std::string modes;
        for (size_t k = 0; k < part.second.size(); ++k) modes += "[posd] ";
        ask(*calls[part.first], "[set] [icmd] [cmds] (" + modes + ")");
        if (!counted) {
            streams[part.first].reset(new Port);
            std::string own = "/loop/command/" + part.first;
            if (!streams[part.first]->open(own) || !Network::connect(own, "/biped/" + part.first + "/command:i", "tcp")) return 2;
        }
    }
    if (counted && (!remap(driver, carrier) || !driver.view(positions))) return 2;
    ask(clock, "stepSimulationAndWait 1");  // the modes are those that were asked for from here on
    std::vector<double> targets(23);
    for (int period = 0; period < periods; ++period) {
        std::string step = "stepSimulationAndWait 10";
        size_t axis = 0;
        for (auto& target : targets) target = reference(0.01 * period, axis++);
        axis = 0;
        if (counted && !positions->setPositions(targets.data())) return 2;
        for (auto& part : PARTS) {
            if (counted) { step += " (/biped/" + part.first + "/command:i 1)"; continue; }
            Bottle message;
            message.addList().addVocab32("dpos");
            Bottle& values = message.addList();
            for (size_t k = 0; k < part.second.size(); ++k) values.addFloat64(targets[axis++]);
            if (!streams[part.first]->write(message)) return 2;  // over tcp this waits for the acknowledgement
        }
        Bottle reply = ask(clock, step);
        if (reply.size()) { std::fprintf(stderr, "the step was refused: %s\n", reply.toString().c_str()); return 2; }
        print_encoders(calls);
    }
    driver.close();
    return 0;
}

// A controller as walking software has it: it wakes on the simulation's clock, reads, and sends references.
class Controller : public PeriodicThread
{
public:
    Controller(double period, IPositionDirect* positions, IEncoders* encoders) :
            PeriodicThread(period), m_positions(positions), m_encoders(encoders), m_targets(23), m_measured(23)
    {
    }
    void run() override
    {
        double now = Time::now();
        if (m_runs) {
            double passed = now - m_last, late = std::fabs(passed - getPeriod());
            m_sum += late;
            m_worst = std::max(m_worst, late);
            m_exact += late < 1e-9;
            m_lost += std::max(0L, std::lround(passed / getPeriod()) - 1);
        }
        m_last = now;
        ++m_runs;
        m_read += m_encoders->getEncoders(m_measured.data());
        size_t axis = 0;
        for (auto& target : m_targets) target = reference(now, axis++);
        m_sent += m_positions->setPositions(m_targets.data());
    }
    long m_runs{0}, m_read{0}, m_sent{0}, m_exact{0}, m_lost{0};
    double m_sum{0.0}, m_worst{0.0};

private:
    IPositionDirect* m_positions;
    IEncoders* m_encoders;
    std::vector<double> m_targets, m_measured;
    double m_last{0.0};
};

// Counts the messages of a stream and the gaps in their numbers.
class Listener : public BufferedPort<Bottle>
{
public:
    using BufferedPort<Bottle>::onRead;
    void onRead(Bottle&) override
    {
        Stamp stamp;
        getEnvelope(stamp);
        if (m_heard) m_missed += stamp.getCount() - m_last - 1;
        m_last = stamp.getCount();
        ++m_heard;
    }
    long m_heard{0}, m_missed{0};

private:
    int m_last{0};
};

static int on_clock(double period, double seconds)
{
    PolyDriver driver;
    IPositionDirect* positions = nullptr;
    IEncoders* encoders = nullptr;
    IControlMode* modes = nullptr;
    if (!remap(driver, "udp") || !driver.view(positions) || !driver.view(encoders) || !driver.view(modes)) return 2;
    if (!versions::set_all(modes, 23, MODE(POSITION_DIRECT))) return 2;
    Listener listener;
    listener.setStrict(true);
    listener.useCallback();
    if (!listener.open("/loop/state:i") || !Network::connect("/biped/left_leg/state:o", "/loop/state:i", "tcp")) return 2;
    Controller controller(period, positions, encoders);
    double began = Time::now(), wall = SystemClock::nowSystem();
    controller.start();
    while (Time::now() - began < seconds) SystemClock::delaySystem(0.05);
    controller.stop();
    std::printf("period %g runs %ld lost %ld exact %ld mean_late_us %.1f worst_late_us %.1f read %ld sent %ld "
                "states %ld missed %ld simulated %.2f wall %.2f\n",
                period, controller.m_runs, controller.m_lost, controller.m_exact, 1e6 * controller.m_sum / std::max(1L, controller.m_runs),
                1e6 * controller.m_worst, controller.m_read, controller.m_sent, listener.m_heard, listener.m_missed,
                Time::now() - began, SystemClock::nowSystem() - wall);
    listener.interrupt();
    listener.close();
    driver.close();
    return 0;
}

int main(int argc, char** argv)
{
    register_plugins();
    Network network;
    std::string mode = argc > 1 ? argv[1] : "";
    if (!network.checkNetwork(5.0)) { std::fprintf(stderr, "no name server\n"); return 2; }
    if (mode == "counted" && argc == 4) return lockstep(true, argv[2], std::atoi(argv[3]));
    if (mode == "acknowledged" && argc == 3) return lockstep(false, "", std::atoi(argv[2]));
    if (mode == "clock" && argc == 4) return on_clock(std::atof(argv[2]), std::atof(argv[3]));
    std::fprintf(stderr, "see the head of main.cpp\n");
    return 2;
}
